// SPDX-License-Identifier: Apache-2.0
#include "plainc.h"

#include <stdlib.h>
#include <uv.h>

static void fired(uv_timer_t *timer) { ++*(size_t *)timer->data; }

static uv_timer_t *make_timers(uv_loop_t *loop, size_t count, size_t *hits) {
    uv_timer_t *timers = malloc(count * sizeof *timers);
    for (size_t i = 0; timers && i < count; i++) {
        uv_timer_init(loop, &timers[i]);
        timers[i].data = hits;
    }
    return timers;
}

static void arm_all(uv_loop_t *loop, uv_timer_t *timers, size_t count, uint64_t span, uint64_t offset) {
    uint64_t state = plain_seed;
    uv_update_time(loop);
    for (size_t i = 0; i < count; i++)
        uv_timer_start(&timers[i], fired, offset + plain_next_delay(&state, span) / 1000000, 0);
}

static void end(uv_loop_t *loop, uv_timer_t *timers, size_t count) {
    for (size_t i = 0; i < count; i++) uv_close((uv_handle_t *)&timers[i], NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    free(timers);
}

size_t plain_timers_pending(size_t count, uint64_t span) {
    uv_loop_t loop;
    size_t hits = 0;
    if (uv_loop_init(&loop)) return 0;
    uv_timer_t *timers = make_timers(&loop, count, &hits);
    if (!timers) return 0;
    arm_all(&loop, timers, count, span, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    end(&loop, timers, count);
    return hits;
}

size_t plain_timers_cancelled(size_t count, uint64_t span, size_t times) {
    uv_loop_t loop;
    size_t hits = 0;
    if (uv_loop_init(&loop)) return 0;
    uv_timer_t *timers = make_timers(&loop, count, &hits);
    if (!timers) return 0;
    for (size_t round = 0; round < times; round++) {
        arm_all(&loop, timers, count, span, 3600 * 1000);
        for (size_t i = 0; i < count; i++) uv_timer_stop(&timers[i]);
    }
    end(&loop, timers, count);
    return hits ? 0 : count * times;
}
