/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside a libuv loop of the program's own: callbacks run on the loop's thread. Waits for up to three seconds until the
 * network is there, reports whether it is, and ends.
 *
 *     cc uv-loop.c $(pkg-config --cflags --libs uplink libuv)
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <uplink.h>
#include <uv.h>

static uv_poll_t readiness;

/* Called by libuv when callbacks are due. */
static void ready(uv_poll_t *handle, int error, int events) {
    (void)error, (void)events;
    uplink_dispatch((uplink_context *)handle->data);
}

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)user;
    uplink_operation_complete(context, id, 0);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id;
    *(int *)user = told->status;
    puts(told->started ? "the network is there" : told->message);
    uv_close((uv_handle_t *)&readiness, NULL);
}

int main(void) {
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    int status, told = UPLINK_OK;
    options.dispatch = true;
    status = uplink_context_create(&options, &context);
    if (status == UPLINK_OK) {
        uv_poll_init(uv_default_loop(), &readiness, uplink_descriptor(context));
        readiness.data = context;
        uv_poll_start(&readiness, UV_READABLE, ready);
        status = uplink_perform(context, 3000, NULL, operation, outcome, &told, NULL);
        if (status != UPLINK_OK) uv_close((uv_handle_t *)&readiness, NULL);
        uv_run(uv_default_loop(), UV_RUN_DEFAULT);
        uv_loop_close(uv_default_loop());
    }
    if (status != UPLINK_OK) fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context); /* after libuv has released the descriptor */
    return status == UPLINK_OK && told == UPLINK_OK ? 0 : 1;
}
