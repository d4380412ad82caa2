/* SPDX-License-Identifier: Apache-2.0 */
/* The same operations in plain C over the same libuv and libcurl: plain OPERATION COUNT [SERVER] */
#include <plainc.h>
#include <plainhttp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int get(plain_http_job job) {
    plain_http *http = plain_http_open(64);
    size_t right = plain_http_run(http, job);
    plain_http_close(http);
    return right == job.requests;
}

static int small(const char *server, size_t times, size_t concurrency) {
    char url[256];
    snprintf(url, sizeof url, "%s/small", server);
    return get((plain_http_job){.url = url, .requests = times, .concurrency = concurrency, .body = 100,
                                .sink = plain_sink_memory, .buffer = 16 * 1024, .path = "/dev/null"});
}

static int large(const char *server, size_t mebibytes, plain_sink sink) {
    char url[256];
    snprintf(url, sizeof url, "%s/zeros-%zu", server, mebibytes);
    return get((plain_http_job){.url = url, .requests = 1, .concurrency = 1, .body = mebibytes << 20,
                                .sink = sink, .buffer = 256 * 1024, .path = "/dev/null"});
}

static size_t timers(size_t times, size_t (*thousand)(void)) {
    size_t done = 0;
    for (size_t round = 0; round < times / 1000; round++) done += thousand();
    return done;
}
static size_t fire_thousand(void) { return plain_heap_pending(1000, 1); }
static size_t cancel_thousand(void) { return plain_heap_cancelled(1000, 1000 * 1000000000ull, 1); }

int main(int count, char **arguments) {
    size_t times = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
    const char *operation = count > 2 ? arguments[1] : "", *server = count > 3 ? arguments[3] : "";
    int done = !strcmp(operation, "timer")    ? timers(times, fire_thousand) == times
               : !strcmp(operation, "cancel") ? timers(times, cancel_thousand) == times
               : !strcmp(operation, "small")  ? small(server, times, 64)
               : !strcmp(operation, "single") ? small(server, times, 1)
               : !strcmp(operation, "stream") ? large(server, times, plain_sink_count)
               : !strcmp(operation, "memory") ? large(server, times, plain_sink_memory)
                                              : 0;
    if (!done) fprintf(stderr, "plain %s %zu %s: failed\n", operation, times, server);
    return done ? 0 : 1;
}
