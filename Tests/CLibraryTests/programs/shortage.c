/* SPDX-License-Identifier: Apache-2.0 */
/* A context without any free descriptor: calls fail or succeed, all of them end, and so does the context. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "server.h"

enum { at_once = 40 };

static latch ends = LATCH;

static void got(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    (void)context, (void)id, (void)result;
    latch_add((latch *)user, 1);
}

static void downloaded(uplink_context *context, uint64_t id, const uplink_download_result *result, void *user) {
    (void)context, (void)id;
    CHECK(result->status != UPLINK_OK); /* a file needs a descriptor */
    latch_add((latch *)user, 1);
}

static void told(uplink_context *context, uint64_t id, const uplink_download_progress *progress, void *user) {
    (void)context, (void)id, (void)progress, (void)user;
}

static int64_t zeros(uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    (void)context, (void)id, (void)user;
    memset(bytes, 0, count);
    return offset > 100000 ? 0 : (int64_t)count;
}

/* In a process of its own, whose descriptors are not short. */
static pid_t serve(void) {
    int ends_of_pipe[2];
    CHECK(pipe(ends_of_pipe) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
        server_start();
        CHECK(write(ends_of_pipe[1], &server_port, sizeof(server_port)) == sizeof(server_port));
        for (;;) pause();
    }
    CHECK(child > 0 && read(ends_of_pipe[0], &server_port, sizeof(server_port)) == sizeof(server_port));
    for (int i = 0; i < 2; i++) close(ends_of_pipe[i]);
    return child;
}

static void take_all_descriptors(void) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = 100;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while (dup(STDERR_FILENO) >= 0) continue;
}

int main(void) {
    long calls = 0;
    uplink_context *context;
    uplink_request *upload;
    uplink_get_options get = UPLINK_GET_OPTIONS_INIT;
    uplink_request_options put = UPLINK_REQUEST_OPTIONS_INIT;
    uplink_download_options download = UPLINK_DOWNLOAD_OPTIONS_INIT;
    pid_t server = serve();
    get.total_milliseconds = put.total_milliseconds = 1000;
    download.progress = told;
    download.ignores_network = true;
    download.maximum_failures = 1;

    CHECK_STATUS(uplink_request_create("PUT", server_url("/upload"), &upload), UPLINK_OK);
    CHECK_STATUS(
        uplink_request_set_body_source(upload, UPLINK_UNKNOWN_LENGTH, false, zeros, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    for (; calls < at_once; calls++)
        CHECK_STATUS(uplink_get_collect(context, server_url("/hello"), NULL, 100, got, &ends, NULL), UPLINK_OK);
    latch_await(&ends, calls);
    take_all_descriptors();
    /* Long enough for libdispatch, which looks at its threads' files once a second while work waits for its pools. */
    for (double start = seconds_now(); seconds_now() - start < 4; pause_milliseconds(1))
        while (calls - latch_count(&ends) < at_once) {
            CHECK_STATUS(uplink_get_collect(context, server_url("/hello"), &get, 100, got, &ends, NULL), UPLINK_OK);
            CHECK_STATUS(
                uplink_download(
                    context, server_url("/hello"), "/tmp/uplink-shortage", 1000, &download, downloaded, &ends, NULL),
                UPLINK_OK);
            CHECK_STATUS(uplink_request_collect(context, upload, &put, 100, got, &ends, NULL), UPLINK_OK);
            calls += 3;
        }
    latch_await(&ends, calls);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    uplink_request_free(upload);
    CHECK(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server);
    printf("shortage: %ld calls\n", calls);
    return 0;
}
