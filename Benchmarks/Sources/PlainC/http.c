// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "http.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Sockets

static void watcher_closed(uv_handle_t *handle) { free(handle); }

static void forget_socket(plain_http *http, curl_socket_t fd) {
    if (fd < 0 || (size_t)fd >= http->socket_count || !http->sockets[fd]) return;
    uv_poll_t *watcher = &http->sockets[fd]->watcher;
    http->sockets[fd] = NULL;
    uv_poll_stop(watcher);
    uv_close((uv_handle_t *)watcher, watcher_closed);
}

static void act(plain_http *http, curl_socket_t fd, int events) {
    int running;
    curl_multi_socket_action(http->multi, fd, events, &running);
}

static void socket_ready(uv_poll_t *watcher, int status, int events) {
    watched_t *socket = (watched_t *)watcher;
    plain_http *http = watcher->data;
    if (!socket->wanted) {  // an idle connection: its other end has closed it, and libcurl will find out
        uv_poll_stop(watcher);
        socket->interest = 0;
        return;
    }
    if (status < 0) socket->interest = 0;  // libuv has stopped the watcher
    curl_socket_t fd = socket->fd;
    int ready = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
    act(http, fd, status < 0 ? 0 : ready);
    if (http->sockets[fd] != socket || !socket->wanted || socket->interest) return;
    socket->interest = UV_READABLE | UV_WRITABLE;
    uv_poll_start(watcher, socket->interest, socket_ready);
}

// A connected socket is watched on when libcurl is done with it for now, because its closing will be told.
static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *context, void *own) {
    (void)own;
    plain_http *http = context;
    if (what == CURL_POLL_REMOVE) {
        if (http->sockets[fd] && http->sockets[fd]->connected) http->sockets[fd]->wanted = 0;
        else forget_socket(http, fd);
        return 0;
    }
    if (http->closing) return 0;
    transfer_t *transfer;
    if (curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer) == CURLE_OK && transfer) transfer->watched = fd;
    if ((size_t)fd >= http->socket_count) {
        size_t count = (size_t)fd + 256;
        http->sockets = realloc(http->sockets, count * sizeof *http->sockets);
        memset(http->sockets + http->socket_count, 0, (count - http->socket_count) * sizeof *http->sockets);
        http->socket_count = count;
    }
    watched_t *socket = http->sockets[fd];
    if (!socket) {
        socket = http->sockets[fd] = calloc(1, sizeof *socket);
        uv_poll_init(&http->loop, &socket->watcher, fd);
        socket->watcher.data = http;
        socket->fd = fd;
    }
    int interest = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    socket->wanted = 1;
    if (!socket->connected || interest != socket->interest) uv_poll_start(&socket->watcher, interest, socket_ready);
    socket->interest = interest;
    return 0;
}

static int socket_opened(void *context, curl_socket_t fd, curlsocktype purpose) {
    (void)purpose;
    transfer_t *transfer = context;
    forget_socket(transfer->http, fd);
    transfer->opened = fd;  // the only one: there is one address
    int milliseconds = 30000;
    fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
    return CURL_SOCKOPT_OK;
}

static int socket_closing(void *context, curl_socket_t fd) {
    forget_socket(context, fd);
    return close(fd);
}

// MARK: Timers

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    plain_http *http = context;
    http->is_due = milliseconds == 0;
    if (milliseconds > 0) uv_timer_start(&http->timer, http->timer_passed, (uint64_t)milliseconds, 0);
    else uv_timer_stop(&http->timer);
    return 0;
}

static void timer_passed(uv_timer_t *timer) { act(timer->data, CURL_SOCKET_TIMEOUT, 0); }

// libcurl before 8.4 looks at its attempts to connect when it is asked to.
static void nudge(uv_timer_t *timer) {
    plain_http *http = timer->data;
    int running;
    if (!http->connecting) return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    curl_multi_socket_all(http->multi, &running);
#pragma GCC diagnostic pop
    uv_timer_start(timer, nudge, 50, 0);
}

// The deadlines of one kind are all as far away when they are set, so those set first are due first.
static const uint64_t limits[limit_kinds] = {10 * second, 60 * second, 30 * second};

static void deadlines_passed(uv_timer_t *timer) {
    plain_http *http = timer->data;
    uint64_t now = uv_hrtime(), due = UINT64_MAX;
    for (int kind = 0; kind < limit_kinds; kind++) {
        transfer_t *first = http->deadlines[kind].next;
        if (first != &http->deadlines[kind] && first->deadline < due) due = first->deadline;
    }
    if (due <= now) abort();  // a benchmark's server answers
    if (due != UINT64_MAX) uv_timer_start(timer, deadlines_passed, (due - now) / 1000000 + 1, 0);
}

void plain_http_set_deadline(transfer_t *transfer, limit_kind kind) {
    plain_http *http = transfer->http;
    transfer_t *end = &http->deadlines[kind];
    plain_http_clear_deadline(transfer);
    transfer->deadline = uv_hrtime() + limits[kind];
    transfer->previous = end->previous;
    transfer->next = end;
    transfer->previous->next = transfer->next->previous = transfer;
    if (!uv_is_active((uv_handle_t *)&http->deadline_timer))
        uv_timer_start(&http->deadline_timer, deadlines_passed, limits[kind] / 1000000 + 1, 0);
}

void plain_http_clear_deadline(transfer_t *transfer) {
    if (!transfer->next) return;
    transfer->previous->next = transfer->next;
    transfer->next->previous = transfer->previous;
    transfer->next = transfer->previous = NULL;
}

// MARK: Transfers

static int request_goes_out(void *context, char *a, char *b, int c, int d) {
    (void)a, (void)b, (void)c, (void)d;
    transfer_t *transfer = context;
    plain_http *http = transfer->http;
    curl_socket_t fd = transfer->opened;
    if (fd >= 0 && (size_t)fd < http->socket_count && http->sockets[fd]) http->sockets[fd]->connected = 1;
    transfer->opened = CURL_SOCKET_BAD;
    if (transfer->is_connecting) http->connecting--;
    transfer->is_connecting = 0;
    plain_http_set_deadline(transfer, limit_first_byte);
    return CURL_PREREQFUNC_OK;
}

// A transfer that ends in a failure is counted as one, so its caller fails; no attempt is made to go on.
void plain_http_add(plain_http *http) {
    transfer_t *transfer = http->free_transfers;
    if (transfer) http->free_transfers = transfer->next_free;
    else transfer = calloc(1, sizeof *transfer);
    if (!transfer->easy) transfer->easy = curl_easy_init();
    else curl_easy_reset(transfer->easy);
    transfer->http = http;
    transfer->is_connecting = 1;
    transfer->opened = transfer->watched = CURL_SOCKET_BAD;
    plain_http_begin_body(transfer);
    plain_http_configure(transfer, request_goes_out, socket_opened, socket_closing);
    plain_http_set_deadline(transfer, limit_connect);
    if (http->connecting++ == 0) uv_timer_start(&http->nudge_timer, nudge, 50, 0);
    http->started++;
    http->running++;
    curl_multi_add_handle(http->multi, transfer->easy);
}

// The body is where it was to go.
void plain_http_done(transfer_t *transfer, int is_right) {
    plain_http *http = transfer->http;
    http->running--;
    http->right += is_right;
    transfer->next_free = http->free_transfers;
    http->free_transfers = transfer;
    if (http->asker) plain_http_answer(http->asker);
    else if (http->started < http->job.requests) plain_http_add(http);
    else if (!http->running) uv_stop(&http->loop);
}

static int harvest(plain_http *http) {
    int left, found = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        transfer_t *transfer;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        curl_multi_remove_handle(http->multi, transfer->easy);
        plain_http_clear_deadline(transfer);
        if (transfer->is_connecting) http->connecting--;
        plain_http_end_body(transfer, code == CURLE_OK && transfer->status == 200);
        found = 1;
    }
    return found;
}

// What is due at once is done before the loop waits again, with no timer.
static void turn_ends(uv_prepare_t *prepare) {
    plain_http *http = prepare->data;
    do {
        while (http->is_due) {
            http->is_due = 0;
            act(http, CURL_SOCKET_TIMEOUT, 0);
        }
    } while (harvest(http) || http->is_due);
}

// MARK: From outside

plain_http *plain_http_open(size_t idle_connections) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    plain_http *http = calloc(1, sizeof *http);
    uv_loop_init(&http->loop);
    uv_timer_init(&http->loop, &http->timer);
    uv_timer_init(&http->loop, &http->nudge_timer);
    uv_timer_init(&http->loop, &http->deadline_timer);
    uv_prepare_init(&http->loop, &http->prepare);
    http->timer.data = http->nudge_timer.data = http->deadline_timer.data = http->prepare.data = http;
    http->timer_passed = timer_passed;
    uv_prepare_start(&http->prepare, turn_ends);
    for (int kind = 0; kind < limit_kinds; kind++)
        http->deadlines[kind].next = http->deadlines[kind].previous = &http->deadlines[kind];
    http->multi = curl_multi_init();
    http->share = curl_share_init();
    curl_share_setopt(http->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)idle_connections);
    curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    return http;
}

size_t plain_http_run(plain_http *http, plain_http_job job) {
    http->job = job;
    http->started = http->right = 0;
    while (http->started < job.requests && http->running < job.concurrency) plain_http_add(http);
    uv_run(&http->loop, UV_RUN_DEFAULT);
    return http->right;
}

static void close_handle(uv_handle_t *handle, void *context) {
    (void)context;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

void plain_http_close(plain_http *http) {
    http->closing = 1;
    for (transfer_t *transfer = http->free_transfers; transfer;) {
        transfer_t *next = transfer->next_free;
        curl_easy_cleanup(transfer->easy);
        free(transfer);
        transfer = next;
    }
    curl_multi_cleanup(http->multi);
    curl_share_cleanup(http->share);
    for (size_t fd = 0; fd < http->socket_count; fd++) forget_socket(http, (curl_socket_t)fd);
    uv_walk(&http->loop, close_handle, NULL);
    uv_run(&http->loop, UV_RUN_DEFAULT);
    uv_loop_close(&http->loop);
    free(http->sockets);
    free(http);
}

const char *plain_libcurl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
