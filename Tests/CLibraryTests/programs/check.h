/* SPDX-License-Identifier: Apache-2.0 */
/* What the C programs of the tests share: checks, a latch, a network of their own. */
#ifndef CHECK_H
#define CHECK_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "uplink.h"

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                         \
        }                                                                                    \
    } while (0)

#define CHECK_STATUS(call, expected)                                                                      \
    do {                                                                                                  \
        int status_ = (call);                                                                             \
        if (status_ != (expected)) {                                                                      \
            fprintf(stderr, "%s:%d: %s is %s (%d), not %s\n", __FILE__, __LINE__, #call,                  \
                    uplink_error_name(status_), status_, #expected);                                      \
            abort();                                                                                      \
        }                                                                                                 \
    } while (0)

/* Counts what callbacks bring, for a thread that waits for them. */
typedef struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    long count;
} latch;

#define LATCH {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void latch_add(latch *latch, long count) {
    pthread_mutex_lock(&latch->mutex);
    latch->count += count;
    pthread_cond_broadcast(&latch->changed);
    pthread_mutex_unlock(&latch->mutex);
}

static inline long latch_count(latch *latch) {
    pthread_mutex_lock(&latch->mutex);
    long count = latch->count;
    pthread_mutex_unlock(&latch->mutex);
    return count;
}

/* Waits until so many have come; fails after a minute and a half. */
static inline void latch_await(latch *latch, long count) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 90;
    pthread_mutex_lock(&latch->mutex);
    while (latch->count < count) {
        if (pthread_cond_timedwait(&latch->changed, &latch->mutex, &end) != 0) {
            fprintf(stderr, "waited for %ld, and %ld came\n", count, latch->count);
            abort();
        }
    }
    pthread_mutex_unlock(&latch->mutex);
}

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void pause_milliseconds(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A network namespace of the program's own, with a link and an address and no way to the internet. Needs root; to be
 * called before there are threads. */
static inline void network_enter(void) {
    CHECK(unshare(CLONE_NEWNET) == 0);
    CHECK(system("ip link set lo up && ip link add eth0 type veth peer name r0 && ip link set r0 up && "
                 "ip link set eth0 up && ip addr add 192.0.2.10/24 dev eth0") == 0);
}

static inline void network_up(void) { CHECK(system("ip route add default via 192.0.2.1") == 0); }

static inline void network_down(void) { CHECK(system("ip route del default") == 0); }

/* Waits until the process has done nothing for half a second, of 30 at most: tasks of contexts that are gone may still let
 * go of their memory on a thread of the runtime's, which valgrind would call lost. */
static inline void settle(void) {
    clock_t last = clock();
    for (int quiet = 0, i = 0; quiet < 5 && i < 300; i++) {
        pause_milliseconds(100);
        clock_t now = clock();
        quiet = now - last < CLOCKS_PER_SEC / 100 ? quiet + 1 : 0;
        last = now;
    }
}

/* How many descriptors the process has open. */
static inline int descriptors(void) {
    int count = 0;
    for (int i = 0; i < 1024; i++) count += fcntl(i, F_GETFD) >= 0;
    return count;
}

/* A file's permissions (chmod(2)); -1 where there is none. */
static inline int mode_of(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? (int)(found.st_mode & 07777) : -1;
}

/* How many threads the process has. */
static inline int threads(void) {
    char line[256];
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file)) sscanf(line, "Threads: %d", &count);
    if (file) fclose(file);
    return count;
}

#endif
