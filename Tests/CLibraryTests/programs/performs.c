/* SPDX-License-Identifier: Apache-2.0 */
/* Very many operations, of every outcome: each is told once, and "not started" means that it never ran. */
#include "check.h"

static const uplink_requirement nowhere = {sizeof(uplink_requirement), 0, 0, "none0", 0};

enum { maximum = 100000 };

typedef struct call {
    uint64_t id;
    int runs;
    int ends;
    int status;
    bool started;
    int result;
    latch *begun;
    latch *ended;
} call;

static call calls[maximum];
static latch begun = LATCH, ended = LATCH;
static int count;

static void completes(uplink_context *context, uint64_t id, void *user) {
    ((call *)user)->runs++;
    CHECK_STATUS(uplink_operation_complete(context, id, 7), UPLINK_OK);
    CHECK_STATUS(uplink_operation_complete(context, id, 8), UPLINK_ENOENT);
}

/* Where the context may be gone before the operation says so. */
static void completes_if_it_may(uplink_context *context, uint64_t id, void *user) {
    ((call *)user)->runs++;
    int status = uplink_operation_complete(context, id, 7);
    CHECK(status == UPLINK_OK || status == UPLINK_ENOENT);
}

static void completes_later(uplink_context *context, uint64_t id, void *user) {
    (void)context;
    ((call *)user)->runs++;
    ((call *)user)->id = id;
    latch_add(&begun, 1);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    call *call = user;
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_ENOENT); /* after the end: harmless */
    call->ends++;
    call->status = told->status;
    call->started = told->started;
    call->result = told->result;
    latch_add(&ended, 1);
}

static void start(uplink_context *context, int64_t timeout, const uplink_requirement *requirement, uplink_operation_cb operation) {
    memset(calls, 0, sizeof(*calls) * (size_t)count);
    latch_add(&begun, -latch_count(&begun));
    latch_add(&ended, -latch_count(&ended));
    for (int i = 0; i < count; i++)
        CHECK_STATUS(uplink_perform(context, timeout, requirement, operation, outcome, &calls[i], operation == completes_later ? NULL : &calls[i].id), UPLINK_OK);
}

static void all_are(int status, bool started, int result) {
    latch_await(&ended, count);
    for (int i = 0; i < count; i++) {
        CHECK_STATUS(calls[i].status, status);
        CHECK(calls[i].ends == 1 && calls[i].started == started && calls[i].runs == started);
        CHECK(calls[i].result == result);
    }
}

static uplink_context *shared;

static void *cancel_every_other(void *first) {
    for (int i = (int)(intptr_t)first; i < count; i += 2) {
        int status = uplink_cancel(shared, calls[i].id);
        CHECK(status == UPLINK_OK || status == UPLINK_ENOENT);
    }
    return NULL;
}

static void *complete_every_other(void *first) {
    for (int i = (int)(intptr_t)first; i < count; i += 2)
        CHECK_STATUS(uplink_operation_complete(shared, calls[i].id, 9), UPLINK_OK);
    return NULL;
}

static void in_two_threads(void *(*work)(void *)) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(int argument_count, char **arguments) {
    count = argument_count > 1 ? atoi(arguments[1]) : 10000;
    CHECK(count <= maximum);
    network_enter();
    CHECK_STATUS(uplink_context_create(NULL, &shared), UPLINK_OK);

    /* Not there, and it does not come. */
    start(shared, 0, NULL, completes);
    all_are(UPLINK_ENONETWORK, false, 0);
    double begin = seconds_now();
    start(shared, 200, NULL, completes);
    all_are(UPLINK_ENONETWORK, false, 0);
    CHECK(seconds_now() - begin >= 0.2);

    /* It comes while they wait. */
    start(shared, 90000, NULL, completes);
    pause_milliseconds(50);
    CHECK(latch_count(&ended) == 0);
    network_up();
    all_are(UPLINK_OK, true, 7);

    /* It is there. */
    start(shared, 0, NULL, completes);
    all_are(UPLINK_OK, true, 7);

    /* Completed by other threads; cancelled while they run, which leaves them the last word. */
    start(shared, UPLINK_INFINITE, NULL, completes_later);
    latch_await(&begun, count);
    CHECK(latch_count(&ended) == 0);
    CHECK_STATUS(uplink_is_cancelled(shared, calls[0].id), 0);
    CHECK_STATUS(uplink_cancel(shared, calls[0].id), UPLINK_OK);
    CHECK_STATUS(uplink_is_cancelled(shared, calls[0].id), 1);
    in_two_threads(complete_every_other);
    all_are(UPLINK_OK, true, 9);
    CHECK_STATUS(uplink_is_cancelled(shared, calls[0].id), UPLINK_ENOENT);

    /* Cancelled while they wait, by two threads. */
    start(shared, UPLINK_INFINITE, &nowhere, completes);
    in_two_threads(cancel_every_other);
    all_are(UPLINK_ECANCELED, false, 0);

    /* Cancelled while they begin. */
    start(shared, UPLINK_INFINITE, NULL, completes);
    in_two_threads(cancel_every_other);
    latch_await(&ended, count);
    for (int i = 0; i < count; i++) {
        CHECK(calls[i].ends == 1 && calls[i].runs == calls[i].started);
        CHECK(calls[i].status == (calls[i].started ? UPLINK_OK : UPLINK_ECANCELED));
    }

    /* Stopped while they wait. */
    start(shared, UPLINK_INFINITE, &nowhere, completes);
    CHECK_STATUS(uplink_context_destroy(shared), UPLINK_OK);
    all_are(UPLINK_ESTOPPED, false, 0);

    /* Stopped while they begin: what is told as not started did not run. */
    int all = count;
    count = 20;
    for (int round = 0; round < all / 20; round++) {
        CHECK_STATUS(uplink_context_create(NULL, &shared), UPLINK_OK);
        CHECK_STATUS(uplink_wait(shared, 90000, NULL), UPLINK_OK);
        start(shared, UPLINK_INFINITE, NULL, round % 2 ? completes_if_it_may : completes_later);
        if (round % 3) sched_yield();
        CHECK_STATUS(uplink_context_destroy(shared), UPLINK_OK);
        for (int i = 0; i < count; i++) {
            CHECK(calls[i].ends == 1 && calls[i].runs == calls[i].started);
            CHECK(calls[i].status == UPLINK_ESTOPPED || (calls[i].started && calls[i].status == UPLINK_OK));
        }
    }
    count = all;
    printf("performs: %d of every outcome\n", count);
    return 0;
}
