/* SPDX-License-Identifier: Apache-2.0 */
/* Takes functions of the library as values, as a table or a list's destroy function does. In a program that is not
 * position-independent, these are addresses in the program itself. */
#include "check.h"

static void (*const release_path)(uplink_path *) = uplink_path_release;
static void (*const free_request)(uplink_request *) = uplink_request_free;
static int (*const create_request)(const char *, const char *, uplink_request **) = uplink_request_create;
static const char *(*const name)(int) = uplink_error_name;

int main(void) {
    uplink_request *request;
    CHECK_STATUS(create_request("GET", "http://192.0.2.1/", &request), UPLINK_OK);
    free_request(request);
    release_path(NULL);
    CHECK(strcmp(name(UPLINK_EINVAL), "UPLINK_EINVAL") == 0);
    puts("called by their addresses");
    return 0;
}
