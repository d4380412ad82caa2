/* SPDX-License-Identifier: Apache-2.0 */
#include "uplink.h"

/* In C because the list of errors is a macro, which Swift does not import. */

const char *uplink_strerror(int error) {
    switch (error) {
    case UPLINK_OK: return "no error";
#define UPLINK_ERROR_TEXT(name, number, text) case number: return text;
    UPLINK_ERROR_MAP(UPLINK_ERROR_TEXT)
#undef UPLINK_ERROR_TEXT
    default: return "not an error of this version of libuplink";
    }
}

const char *uplink_error_name(int error) {
    switch (error) {
    case UPLINK_OK: return "UPLINK_OK";
#define UPLINK_ERROR_NAME(name, number, text) case number: return "UPLINK_" #name;
    UPLINK_ERROR_MAP(UPLINK_ERROR_NAME)
#undef UPLINK_ERROR_NAME
    default: return "UPLINK_UNKNOWN";
    }
}
