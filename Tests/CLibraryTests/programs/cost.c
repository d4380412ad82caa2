/* SPDX-License-Identifier: Apache-2.0 */
/* So many operations, one after the other, with the network there: for callgrind to count (docs/internals/c-library.md). */
#include "check.h"

static latch ended = LATCH;

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)user;
    uplink_operation_complete(context, id, 0);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id, (void)user;
    CHECK_STATUS(told->status, UPLINK_OK);
    latch_add(&ended, 1);
}

int main(int count, char **arguments) {
    uplink_context *context;
    int calls = count > 1 ? atoi(arguments[1]) : 1000;
    network_enter();
    network_up();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    CHECK_STATUS(uplink_wait(context, UPLINK_INFINITE, NULL), UPLINK_OK);
    for (int i = 0; i < calls; i++) {
        CHECK_STATUS(uplink_perform(context, 0, NULL, operation, outcome, NULL, NULL), UPLINK_OK);
        latch_await(&ended, i + 1);
    }
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    return 0;
}
