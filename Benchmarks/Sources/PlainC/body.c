// SPDX-License-Identifier: Apache-2.0
// The options of a transfer, and where its head and body go.
#define _GNU_SOURCE
#include "http.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

// MARK: The head

// Before 8.1 libcurl appends an answer's first field, if it is folded, to the last one of the handle's answer before,
// which has been freed (curl pull request 11103). With CURLOPT_HEADER the body's callback sees a line before that.
static int appends_to_freed_fields(void) {
    static int appends = -1;
    if (appends < 0) appends = curl_version_info(CURLVERSION_NOW)->version_num < 0x080100;
    return appends;
}

// False stops the transfer.
static int may_be_taken(transfer_t *transfer, const char *piece, size_t count) {
    int is_fold = !transfer->is_within_line && (piece[0] == ' ' || piece[0] == '\t');
    transfer->is_within_line = piece[count - 1] != '\n';
    return appends_to_freed_fields() && !transfer->fields && !is_fold;
}

// Status and framing are read and the limits are kept.
static size_t header_came(char *line, size_t size, size_t count, void *context) {
    (void)size;
    transfer_t *transfer = context;
    transfer->head_bytes += count;
    if (transfer->head_bytes > 64 * 1024 || transfer->fields > 256) return 0;
    if (!transfer->status) {
        if (count < 12 || memcmp(line, "HTTP/1.", 7)) return 0;
        transfer->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
    } else if (line[0] == '\r' || line[0] == '\n') {
        if (transfer->status < 200) transfer->status = 0;
        else transfer->is_body = 1, plain_http_set_deadline(transfer, limit_stall);
    } else {
        char *colon = memchr(line, ':', count);
        if (!colon || line[0] == ' ' || line[0] == '\t') return 0;
        if (transfer->fields++ == 0 && appends_to_freed_fields()) curl_easy_setopt(transfer->easy, CURLOPT_HEADER, 0L);
        if (colon - line == 14 && !strncasecmp(line, "content-length", 14)) {
            if (transfer->has_length) return 0;
            transfer->has_length = 1;
            transfer->length = strtoull(colon + 1, NULL, 10);
            if (transfer->http->job.sink == plain_sink_memory) transfer->memory = malloc(transfer->length);
        }
    }
    return count;
}

// MARK: The body

static const int most_writes = 4;

static void finish_file(transfer_t *transfer) {
    if (transfer->writes) return;
    int is_right = transfer->is_right && !transfer->has_failed && !fsync(transfer->file);
    close(transfer->file);
    while (transfer->free_pieces) {
        piece_t *piece = transfer->free_pieces;
        transfer->free_pieces = piece->next_free;
        free(piece);
    }
    is_right = is_right && !rename(transfer->path, transfer->http->job.path);
    free(transfer->piece);
    transfer->piece = NULL;
    plain_http_done(transfer, is_right);
}

static void piece_written(uv_fs_t *request) {
    piece_t *piece = (piece_t *)request;
    transfer_t *transfer = piece->transfer;
    transfer->writes--;
    if (request->result != (ssize_t)piece->size) transfer->has_failed = 1;
    uv_fs_req_cleanup(request);
    piece->next_free = transfer->free_pieces;
    transfer->free_pieces = piece;
    if (transfer->has_ended) finish_file(transfer);
    else if (transfer->is_paused) {
        transfer->is_paused = 0;
        plain_http_set_deadline(transfer, limit_stall);
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    }
}

static void write_piece(transfer_t *transfer) {
    piece_t *piece = transfer->piece;
    uv_buf_t buffer = uv_buf_init(piece->bytes, (unsigned)piece->size);
    transfer->piece = NULL;
    transfer->writes++;
    uv_fs_write(
        &transfer->http->loop, &piece->request, transfer->file, &buffer, 1, (int64_t)(transfer->received - piece->size),
        piece_written);
}

static void keep(transfer_t *transfer, const char *bytes, size_t count) {
    while (count) {
        if (!transfer->piece) {
            transfer->piece = transfer->free_pieces;
            if (transfer->piece) transfer->free_pieces = transfer->piece->next_free;
            else transfer->piece = malloc(sizeof *transfer->piece);
            transfer->piece->transfer = transfer;
            transfer->piece->size = 0;
        }
        piece_t *piece = transfer->piece;
        size_t taken = sizeof piece->bytes - piece->size;
        if (taken > count) taken = count;
        memcpy(piece->bytes + piece->size, bytes, taken);
        piece->size += taken;
        transfer->received += taken;
        bytes += taken;
        count -= taken;
        if (piece->size == sizeof piece->bytes) write_piece(transfer);
    }
}

// What a server sends beyond its answer would be taken for the answer to the next request: then the connection is
// closed. (Over TLS it stays with OpenSSL, which is not asked here.)
static void end_connection_if_more_comes(transfer_t *transfer) {
    char byte;
    if (transfer->received != transfer->length || transfer->http->job.authorities) return;
    if (transfer->watched != CURL_SOCKET_BAD && recv(transfer->watched, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1)
        curl_easy_setopt(transfer->easy, CURLOPT_FORBID_REUSE, 1L);
}

static size_t body_came(char *bytes, size_t size, size_t count, void *context) {
    (void)size;
    transfer_t *transfer = context;
    if (!transfer->is_body) return may_be_taken(transfer, bytes, count) ? count : 0;
    plain_http_set_deadline(transfer, limit_stall);
    switch (transfer->http->job.sink) {
    case plain_sink_count: break;
    case plain_sink_memory:
        if (transfer->received + count > transfer->length) return 0;
        memcpy(transfer->memory + transfer->received, bytes, count);
        break;
    case plain_sink_file:
        if (transfer->writes >= most_writes &&
            (!transfer->piece || transfer->piece->size + count > sizeof transfer->piece->bytes)) {
            transfer->is_paused = 1;
            plain_http_clear_deadline(transfer);
            return CURL_WRITEFUNC_PAUSE;
        }
        keep(transfer, bytes, count);
        end_connection_if_more_comes(transfer);
        return count;
    }
    transfer->received += count;
    end_connection_if_more_comes(transfer);
    return count;
}

void plain_http_begin_body(transfer_t *transfer) {
    transfer->status = transfer->has_length = transfer->is_body = transfer->is_within_line = 0;
    transfer->head_bytes = transfer->fields = transfer->length = transfer->received = 0;
    transfer->writes = transfer->is_paused = transfer->has_ended = transfer->is_right = transfer->has_failed = 0;
    transfer->memory = NULL;
    if (transfer->http->job.sink != plain_sink_file) return;
    snprintf(transfer->path, sizeof transfer->path, "%s.part", transfer->http->job.path);
    transfer->file = open(transfer->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void plain_http_end_body(transfer_t *transfer, int is_right) {
    is_right = is_right && transfer->has_length && transfer->received == transfer->length &&
               transfer->length == transfer->http->job.body;
    switch (transfer->http->job.sink) {
    case plain_sink_count: break;
    case plain_sink_memory:
        is_right = is_right && transfer->memory;
        free(transfer->memory);
        break;
    case plain_sink_file:
        transfer->has_ended = 1;
        transfer->is_right = is_right;
        if (transfer->piece && transfer->piece->size) write_piece(transfer);
        finish_file(transfer);
        return;
    }
    plain_http_done(transfer, is_right);
}

// MARK: Options

void plain_http_configure(
    transfer_t *transfer, curl_prereq_callback request_goes_out, curl_sockopt_callback opened,
    curl_closesocket_callback closing) {
    CURL *easy = transfer->easy;
    plain_http *http = transfer->http;
    transfer->error[0] = 0;
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_URL, http->job.url);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "plain");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)http->job.buffer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    if (appends_to_freed_fields()) curl_easy_setopt(easy, CURLOPT_HEADER, 1L);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request_goes_out);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, opened);
    curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, closing);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (http->job.authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, http->job.authorities);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10100L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 60L);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, 600L);
    curl_easy_setopt(easy, CURLOPT_SHARE, http->share);
}
