/* SPDX-License-Identifier: Apache-2.0 */
/* The positive control of the ThreadSanitizer run: a deliberate race between a callback and the program. */
#include "check.h"

static int counter;

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)user;
    counter++;
    uplink_operation_complete(context, id, 0);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id, (void)told, (void)user;
}

int main(void) {
    uplink_context *context;
    network_enter();
    network_up();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    CHECK_STATUS(uplink_perform(context, UPLINK_INFINITE, NULL, operation, outcome, NULL, NULL), UPLINK_OK);
    for (int i = 0; i < 500; i++) {
        counter++;
        pause_milliseconds(1);
    }
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    return 0;
}
