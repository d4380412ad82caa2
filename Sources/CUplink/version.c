/* SPDX-License-Identifier: Apache-2.0 */
#include "uplink.h"

/* In C because versions are macros, of which Swift imports only the simplest. */

unsigned int uplink_version(void) { return UPLINK_VERSION_HEX; }

const char *uplink_version_string(void) { return UPLINK_VERSION_STRING; }
