// SPDX-License-Identifier: Apache-2.0
// The same jobs asked for on another thread than the loop's, as a program with work of its own does.
#include "http.h"

#include <stdatomic.h>
#include <stdlib.h>

struct asker {
    uv_async_t asked;
    uv_sem_t answered;
    atomic_size_t requests;  // not taken yet
    atomic_int is_done;
};

static void asked(uv_async_t *async) {
    plain_http *http = async->data;
    for (size_t count = atomic_exchange(&http->asker->requests, 0); count; count--) plain_http_add(http);
    if (atomic_load(&http->asker->is_done)) {
        uv_close((uv_handle_t *)async, NULL);
        uv_stop(&http->loop);
    }
}

static void run(void *http) { uv_run(&((plain_http *)http)->loop, UV_RUN_DEFAULT); }

static void ask(asker_t *asker) {
    atomic_fetch_add(&asker->requests, 1);
    uv_async_send(&asker->asked);
}

void plain_http_answer(asker_t *asker) { uv_sem_post(&asker->answered); }

size_t plain_http_run_asked(plain_http *http, plain_http_job job) {
    asker_t asker = {0};
    uv_thread_t thread;
    http->job = job;
    http->started = http->right = 0;
    http->asker = &asker;
    asker.asked.data = http;
    uv_sem_init(&asker.answered, 0);
    uv_async_init(&http->loop, &asker.asked, asked);
    if (uv_thread_create(&thread, run, http)) abort();  // a benchmark's machine has threads
    size_t left = job.requests, open = 0;
    while (left || open) {
        for (; left && open < job.concurrency; left--, open++) ask(&asker);
        uv_sem_wait(&asker.answered);
        open--;
    }
    atomic_store(&asker.is_done, 1);
    uv_async_send(&asker.asked);
    uv_thread_join(&thread);
    uv_run(&http->loop, UV_RUN_NOWAIT);  // the handle's close callback, before its memory goes
    uv_sem_destroy(&asker.answered);
    http->asker = NULL;
    return http->right;
}
