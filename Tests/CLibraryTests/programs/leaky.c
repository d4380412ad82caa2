/* SPDX-License-Identifier: Apache-2.0 */
/* The positive control of the valgrind runs: a path that is never released. */
#include "check.h"

int main(void) {
    uplink_context *context;
    uplink_path *path;
    network_enter();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    CHECK_STATUS(uplink_current_path(context, UPLINK_INFINITE, &path), UPLINK_OK);
    path = NULL;
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    return 0;
}
