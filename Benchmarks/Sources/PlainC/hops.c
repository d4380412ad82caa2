// SPDX-License-Identifier: Apache-2.0
#include "plainc.h"

#include <uv.h>

// One side of the game: a loop, the handle that wakes it, and the other side.
typedef struct side {
    uv_loop_t loop;
    uv_async_t async;
    struct side *other;
    size_t left;
} side_t;

static void woken(uv_async_t *async) {
    side_t *side = async->data;
    side->left--;
    uv_async_send(&side->other->async);
    if (!side->left) uv_close((uv_handle_t *)async, NULL);
}

static void asker_woken(uv_async_t *async) {
    side_t *side = async->data;
    if (--side->left) uv_async_send(&side->other->async);
    else uv_close((uv_handle_t *)async, NULL);
}

static void run(void *side) { uv_run(&((side_t *)side)->loop, UV_RUN_DEFAULT); }

static int begin(side_t *side, side_t *other, size_t count, uv_async_cb callback) {
    side->other = other;
    side->left = count;
    if (uv_loop_init(&side->loop) || uv_async_init(&side->loop, &side->async, callback)) return 0;
    side->async.data = side;
    return 1;
}

size_t plain_round_trips(size_t count) {
    side_t asker, answerer;
    uv_thread_t thread;
    if (!begin(&asker, &answerer, count, asker_woken) || !begin(&answerer, &asker, count, woken)) return 0;
    if (uv_thread_create(&thread, run, &answerer)) return 0;
    uv_async_send(&answerer.async);
    run(&asker);
    uv_thread_join(&thread);
    uv_loop_close(&asker.loop);
    uv_loop_close(&answerer.loop);
    return asker.left ? 0 : count;
}
