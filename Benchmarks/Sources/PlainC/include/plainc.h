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

// CLOCK_MONOTONIC in nanoseconds.
uint64_t plain_now(void);

// Sockets of rtnetlink in a network namespace, given by its path: for requests, and for the kernel's events on links,
// addresses and routes, with a receive buffer of so many bytes. -1 on failure.
int plain_netlink(const char *network_namespace);
int plain_listener(const char *network_namespace, int buffer);

// Adds or deletes the default route by 192.0.2.1; the time before, or 0 on failure.
uint64_t plain_default_route(int socket, int add);
// Adds or deletes so many routes below 10/8, each told by an event; how many.
size_t plain_routes(int socket, size_t count, int add);
// Adds and deletes routes below 11/8 as fast as the kernel takes them, so many events in all; how many.
size_t plain_route_churn(int socket, size_t events);
// A thread that notes when it reads the default route's events: it is deleted, added, deleted … The times are there
// after the join; one is 0 where the event did not come.
typedef struct plain_changes plain_changes;
plain_changes *plain_changes_start(int listener, size_t count);
const uint64_t *plain_changes_join(plain_changes *changes);

// A thread that reads all events. It ends at the first event after plain_reader_will_end.
typedef struct plain_reader plain_reader;
plain_reader *plain_reader_start(int listener);
int plain_reader_thread(plain_reader *reader);
size_t plain_reader_messages(plain_reader *reader);
size_t plain_reader_overruns(plain_reader *reader);
void plain_reader_will_end(plain_reader *reader);
void plain_reader_join(plain_reader *reader);

// Opens both kinds of socket, reads all links and addresses, asks for one route, closes; how many messages.
size_t plain_take_stock(const char *network_namespace);

// What a thread of this process has used so far: how often it went to sleep, and processor time.
size_t plain_wakeups(int thread);
size_t plain_thread_nanoseconds(int thread);
// The caller's thread.
int plain_thread(void);

// Bytes that malloc has handed out and not got back, in all arenas.
size_t plain_bytes_in_use(void);
// The version of libuv that is linked.
const char *plain_libuv_version(void);

#endif
