/* SPDX-License-Identifier: Apache-2.0 */
/* Takes functions of the library as values, as for a list's destroy function. In a program that is not
 * position-independent, these are addresses in the program itself. */
#include "check.h"

int main(void) {
    /* volatile, so that they are not called directly */
    void (*volatile release_path)(uplink_path *) = uplink_path_release;
    void (*volatile free_request)(uplink_request *) = uplink_request_free;
    int (*volatile create_request)(const char *, const char *, uplink_request **) = uplink_request_create;
    const char *(*volatile name)(int) = uplink_error_name;
    uplink_request *request;
    CHECK_STATUS(create_request("GET", "http://192.0.2.1/", &request), UPLINK_OK);
    free_request(request);
    release_path(NULL);
    CHECK(strcmp(name(UPLINK_EINVAL), "UPLINK_EINVAL") == 0);
    puts("called by their addresses");
    return 0;
}
