// SPDX-License-Identifier: Apache-2.0
// What http.c, body.c and asked.c share.
#ifndef UPLINK_BENCHMARKS_HTTP_H
#define UPLINK_BENCHMARKS_HTTP_H

#include "plainhttp.h"

#include <uv.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

static const uint64_t second = 1000000000;

typedef enum { limit_connect, limit_first_byte, limit_stall, limit_kinds } limit_kind;

typedef struct asker asker_t;

typedef struct {
    uv_poll_t watcher;  // first
    curl_socket_t fd;
    int interest;
    char wanted, connected;
} watched_t;

// A piece of a body on its way to the disk.
typedef struct piece {
    uv_fs_t request;  // first
    struct transfer *transfer;
    struct piece *next_free;
    size_t size;
    char bytes[128 * 1024];
} piece_t;

typedef struct transfer {
    plain_http *http;
    CURL *easy;
    struct transfer *next, *previous, *next_free;
    uint64_t deadline;
    char error[CURL_ERROR_SIZE];
    char is_connecting;
    curl_socket_t opened, watched;
    // Of the head.
    int status, has_length, is_body, is_within_line;
    size_t head_bytes, fields;
    // Of the body.
    size_t length, received;
    char *memory;
    // Of a file.
    int file, writes, is_paused, has_ended, is_right, has_failed;
    piece_t *piece, *free_pieces;
    char path[256];
} transfer_t;

struct plain_http {
    uv_loop_t loop;
    uv_timer_t timer, nudge_timer, deadline_timer;
    uv_prepare_t prepare;
    uv_timer_cb timer_passed;
    CURLM *multi;
    CURLSH *share;
    watched_t **sockets;
    size_t socket_count;
    transfer_t deadlines[limit_kinds];
    transfer_t *free_transfers;
    int is_due, closing;
    size_t connecting, started, running, right;
    plain_http_job job;
    asker_t *asker;  // of a job that another thread asks for
};

void plain_http_set_deadline(transfer_t *transfer, limit_kind kind);
void plain_http_clear_deadline(transfer_t *transfer);
void plain_http_configure(
    transfer_t *transfer, curl_prereq_callback request_goes_out, curl_sockopt_callback opened,
    curl_closesocket_callback closing);
void plain_http_begin_body(transfer_t *transfer);
void plain_http_end_body(transfer_t *transfer, int is_right);
void plain_http_done(transfer_t *transfer, int is_right);
void plain_http_add(plain_http *http);
void plain_http_answer(asker_t *asker);

#endif
