/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts come and go, with calls pending, from callbacks and from other threads; nothing of them is left. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "check.h"
#include "server.h"

static const uplink_requirement nowhere = {sizeof(uplink_requirement), 0, 0, "none0", 0};

typedef struct told {
    latch ends;
    latch others;
    int status;
    int started;
    int destroyed;
} told;

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)context, (void)id;
    latch_add(&((told *)user)->others, 1); /* and never completes */
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *outcome, void *user) {
    told *told = user;
    (void)id;
    told->status = outcome->status;
    told->started += outcome->started;
    told->destroyed = uplink_context_destroy(context);
    CHECK(outcome->size == sizeof(*outcome) && outcome->message != NULL);
    latch_add(&told->ends, 1);
}

static void watched(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user) {
    told *told = user;
    (void)context, (void)id;
    CHECK((status == UPLINK_OK) == (path != NULL));
    latch_add(status == UPLINK_OK ? &told->others : &told->ends, 1);
    if (status != UPLINK_OK) CHECK_STATUS(status, UPLINK_ESTOPPED);
}

static int paused(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user) {
    (void)context, (void)id, (void)bytes, (void)count;
    CHECK(uplink_response_status(response) == 200);
    latch_add(&((told *)user)->others, 1);
    return UPLINK_PAUSE;
}

static void got(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    (void)context, (void)id;
    CHECK_STATUS(result->status, UPLINK_ESTOPPED);
    latch_add(&((told *)user)->ends, 1);
}

static void *wait_in_vain(void *context) {
    CHECK_STATUS(uplink_wait((uplink_context *)context, UPLINK_INFINITE, &nowhere), UPLINK_ESTOPPED);
    return NULL;
}

/* All that can be pending, when the context is destroyed. */
static void destroy_with_calls_pending(bool dispatch) {
    told told = {LATCH, LATCH, 0, 0, 0};
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    pthread_t waiter;
    options.dispatch = dispatch;
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    CHECK_STATUS(uplink_watch(context, watched, &told, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_perform(context, UPLINK_INFINITE, &nowhere, operation, outcome, &told, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_perform(context, UPLINK_INFINITE, NULL, operation, outcome, &told, NULL), UPLINK_OK);
    CHECK_STATUS(
        uplink_get(context, server_url("/big/10000000"), NULL, paused, got, &told, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_get_collect(context, server_url("/silent"), NULL, 10, got, &told, NULL), UPLINK_OK);
    CHECK(pthread_create(&waiter, NULL, wait_in_vain, context) == 0);
    if (!dispatch) latch_await(&told.others, 3); /* a path, an operation that runs, a body that is paused */
    else
        while (latch_count(&told.others) < 3) {
            CHECK(uplink_dispatch(context) >= 0);
            pause_milliseconds(1);
        }
    pause_milliseconds(20); /* for the waiter to be in its wait; if it is not, it finds the context gone */
    CHECK(latch_count(&told.ends) == 0);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(latch_count(&told.ends) == 5); /* all before destroy returned */
    CHECK(told.started == 1);
    CHECK_STATUS(told.status, UPLINK_ESTOPPED);
    CHECK_STATUS(told.destroyed, UPLINK_EDEADLK);
    pthread_join(waiter, NULL);
    CHECK_STATUS(uplink_operation_complete(context, 3, 0), UPLINK_EBADHANDLE);
}

static void *destroy(void *context) { return (void *)(intptr_t)uplink_context_destroy((uplink_context *)context); }

/* Of many threads that destroy, one does. */
static void destroy_from_many_threads(void) {
    uplink_context *context;
    pthread_t threads[4];
    int destroyed = 0;
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, destroy, context) == 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        int status = (int)(intptr_t)result;
        destroyed += status == UPLINK_OK;
        CHECK(status == UPLINK_OK || status == UPLINK_ESTOPPED || status == UPLINK_EBADHANDLE);
    }
    CHECK(destroyed == 1);
}

static void slow(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user) {
    (void)context, (void)id, (void)path;
    latch_add(&((told *)user)->others, 1);
    if (status == UPLINK_OK) pause_milliseconds(100);
    latch_add(&((told *)user)->ends, 1);
}

static void *dispatch_once(void *context) {
    while (uplink_dispatch((uplink_context *)context) == 0) pause_milliseconds(1);
    return NULL;
}

/* Destroying waits for a callback that runs, also on another thread that dispatches. */
static void destroy_waits_for_the_callback(bool dispatch) {
    told told = {LATCH, LATCH, 0, 0, 0};
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    pthread_t dispatcher;
    options.dispatch = dispatch;
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    CHECK_STATUS(uplink_watch(context, slow, &told, NULL), UPLINK_OK);
    if (dispatch) CHECK(pthread_create(&dispatcher, NULL, dispatch_once, context) == 0);
    latch_await(&told.others, 1);
    if (dispatch) CHECK_STATUS(uplink_dispatch(context), UPLINK_EBUSY);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(latch_count(&told.ends) == 2 && latch_count(&told.others) == 2);
    if (dispatch) pthread_join(dispatcher, NULL);
}

/* Whether one of the process's threads runs what came too late for a context's loop. */
static bool has_late_thread(void) {
    bool found = false;
    char path[300], name[32];
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof(name), file)) found |= strncmp(name, "uplink-late", 11) == 0;
        if (file) fclose(file);
    }
    if (threads) closedir(threads);
    return found;
}

/* What is opened once for the process finds room, or there is no context; each time in a process that had none. */
static void create_with_room_for(int count, bool may_fail) {
    int gaps[64], gap_count = 0, used; /* no gaps: a limit is on numbers */
    while ((used = dup(STDERR_FILENO)) < 64) {
        CHECK(used >= 0);
        gaps[gap_count++] = used;
    }
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = (rlim_t)(used + 1 + count);
    pid_t child = fork();
    if (child == 0) {
        uplink_context *context;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        int status = uplink_context_create(NULL, &context);
        if (status == UPLINK_OK) {
            CHECK_STATUS(uplink_wait(context, 90000, NULL), UPLINK_OK);
            CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
        } else {
            CHECK(may_fail && status == UPLINK_ESYSTEM && !context);
        }
        _exit(0);
    }
    int end;
    CHECK(child > 0 && waitpid(child, &end, 0) == child && WIFEXITED(end) && WEXITSTATUS(end) == 0);
    close(used);
    while (gap_count > 0) close(gaps[--gap_count]);
}

/* Runs a check in a process of its own, where nothing has used the library. */
static void in_a_child(void (*check)(int), int argument) {
    int end;
    pid_t child = fork();
    if (child == 0) {
        check(argument);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &end, 0) == child && WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

/* Nothing of a context gets the number of a standard stream that is closed. */
static void create_without_stream(int stream) {
    char link[32], target[64] = "";
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    options.dispatch = true;
    close(stream);
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", stream);
    CHECK(readlink(link, target, sizeof(target) - 1) > 0 && strcmp(target, "/dev/null") == 0);
    CHECK(uplink_descriptor(context) > STDERR_FILENO);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
}

/* A program that has used up the thread-specific keys gets an error. */
static void create_without_keys(int unused) {
    pthread_key_t key;
    uplink_context *context;
    (void)unused;
    while (pthread_key_create(&key, NULL) == 0) {}
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_ESYSTEM);
}

/* Destroying needs no new thread. The last of all: there is no way back. */
static void destroy_without_threads(void) {
    uplink_context *context;
    struct rlimit none = {1, 1};
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    CHECK_STATUS(uplink_wait(context, 90000, NULL), UPLINK_OK);
    CHECK(setgid(65534) == 0 && setuid(65534) == 0); /* root has no such limit */
    CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
    alarm(60);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    alarm(0);
}

int main(int count, char **arguments) {
    int rounds = count > 1 ? atoi(arguments[1]) : 50;
    network_enter();
    network_up();
    for (int room = 0; room <= 20; room++) create_with_room_for(room, room < 16);
    for (int stream = 0; stream <= 2; stream++) in_a_child(create_without_stream, stream);
    in_a_child(create_without_keys, 0);
    server_start();

    uplink_context *context;
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK); /* what the runtime starts once */
    CHECK_STATUS(uplink_wait(context, 90000, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    int before = descriptors();
    for (int i = 0; i < rounds; i++) {
        CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
        if (i % 2) CHECK_STATUS(uplink_wait(context, 90000, NULL), UPLINK_OK);
        CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
        CHECK(!has_late_thread());
    }
    CHECK(descriptors() <= before + 3); /* libdispatch makes three for the process when it comes to need them */

    destroy_with_calls_pending(false);
    destroy_with_calls_pending(true);
    destroy_waits_for_the_callback(false);
    destroy_waits_for_the_callback(true);
    destroy_from_many_threads();
    server_stop();
    destroy_without_threads();
    printf("lifetimes: %d contexts, and those that were destroyed at work\n", rounds);
    return 0;
}
