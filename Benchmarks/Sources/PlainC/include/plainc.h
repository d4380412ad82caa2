// SPDX-License-Identifier: Apache-2.0
// The benchmarks' baselines: the same work in C over libuv, and two readings that Swift has no call for.
#ifndef UPLINK_BENCHMARKS_PLAINC_H
#define UPLINK_BENCHMARKS_PLAINC_H

#include <stddef.h>
#include <stdint.h>

// The delays that every subject uses: the same sequence of nanoseconds in [0, span).
static inline uint64_t plain_next_delay(uint64_t *state, uint64_t span) {
    uint64_t bits = *state;
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    *state = bits;
    return (uint64_t)(((unsigned __int128)bits * span) >> 64);
}
static const uint64_t plain_seed = 0x9E3779B97F4A7C15u;

// One uv_timer_t each. Pending: armed over `span` nanoseconds, all of them fire. Cancelled: all are armed, then all are
// stopped, `times` over. Each returns how many fired or were stopped, or 0 on failure.
size_t plain_timers_pending(size_t count, uint64_t span);
size_t plain_timers_cancelled(size_t count, uint64_t span, size_t times);

// The same with a 4-ary heap of deadlines under one uv_timer_t.
size_t plain_heap_pending(size_t count, uint64_t span);
size_t plain_heap_cancelled(size_t count, uint64_t span, size_t times);

// Two threads, each with a loop, that wake each other by uv_async_send in turn.
size_t plain_round_trips(size_t count);

// Bytes that malloc has handed out and not got back, in all arenas.
size_t plain_bytes_in_use(void);
// The version of libuv that is linked.
const char *plain_libuv_version(void);

#endif
