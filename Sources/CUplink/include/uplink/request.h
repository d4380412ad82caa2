/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of any method, with bodies. Part of uplink.h, which says what holds for all of it. */
#ifndef UPLINK_REQUEST_H
#define UPLINK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"
#include "get.h"
#include "perform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be sent: method, URL, header fields and body. May be sent any number of times, and changed or freed while
 * it is sent, which does not disturb what was sent before. */
typedef struct uplink_request uplink_request;

/*
 * Makes a request without header fields or a body; free it with uplink_request_free().
 *
 * method: such as "PUT", in upper case as HTTP has it; not "CONNECT".
 * url: absolute, http or https.
 * request: set to the new request, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EURL, UPLINK_EREQUEST for the method. Since 1.1.0, like all that is here.
 */
int uplink_request_create(const char *method, const char *url, uplink_request **request);

/* Gives up a request. What was sent of it goes on. No other function may be in use of it, or use it later. NULL is
 * allowed. */
void uplink_request_free(uplink_request *request);

/*
 * Adds a header field. Those that frame the message, such as Content-Length or Host, are the library's own.
 *
 * Errors: UPLINK_EINVAL, also for what is not UTF-8, and when there are 256 already; UPLINK_EREQUEST when it must not be
 * sent, as a value that begins or ends with a blank. Of a field that is the library's own the request's end tells so.
 */
int uplink_request_add_header(uplink_request *request, const char *name, const char *value);

/*
 * Sets the body: these bytes, which are copied. NULL with a count of 0 is an empty body.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body(uplink_request *request, const void *bytes, size_t count);

/*
 * Sets the body: what a regular file contains when it is sent. It is read a little ahead of what goes out; one that
 * cannot be read ends the transfer with UPLINK_EFILE, one that shrinks or grows meanwhile with UPLINK_EBODY. As with
 * uplink_get_file(), no timeout ends what waits for libuv's thread pool.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body_file(uplink_request *request, const char *path);

/*
 * Is asked for the next piece of a body, when there is room for it; where the context's callbacks run.
 *
 * offset: how many bytes of the body were given before; 0 again where it is sent again.
 * bytes, count: where to write the piece, and how many bytes there is room for, at least 1.
 *
 * Returns how many bytes it wrote; 0 for the end of the body; UPLINK_EAGAIN when there are none yet, and it is asked
 * again after uplink_resume(); or another negative number, which ends the transfer with it as the status, one below
 * INT_MIN with that; one of the program's own is -1000 or less.
 */
typedef int64_t (*uplink_read_cb)(
    uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user);

/* A body of which nobody knows the length before it ends. */
#define UPLINK_UNKNOWN_LENGTH ((int64_t)-1)

/*
 * Sets the body: what a callback gives.
 *
 * length: how many bytes there are, and no more is asked for; less ends the transfer with UPLINK_EBODY, and the server
 *   never sees a body that looks whole. UPLINK_UNKNOWN_LENGTH sends the body in chunks.
 * can_rewind: whether the callback can begin anew at offset 0, for a redirect or another attempt. Without it such a
 *   request ends with what there is, or with UPLINK_EBODY.
 * user: given to `read`, not that of the call; it has to last until the last call with this body has ended.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body_source(
    uplink_request *request, int64_t length, bool can_rewind, uplink_read_cb read, void *user);

/* Is told that so many bytes of the body have gone out, of so many or UPLINK_UNKNOWN_LENGTH; less than before where it
 * is sent again. A callback that is slow is told the newest numbers and misses those between; an answer that comes before
 * the body is out may be the end of it, so the last numbers told need not be the body's. */
typedef void (*uplink_sent_cb)(uplink_context *context, uint64_t id, int64_t sent, int64_t length, void *user);

/* Timeouts are in milliseconds, from the transfer's turn on, which `total_milliseconds` alone limits as well; 0: the
 * default that stands here; UPLINK_INFINITE: none. */
typedef struct uplink_request_options {
    size_t size;                           /* sizeof(uplink_request_options) */
    bool waits_for_network;                /* wait for the network first, for up to `wait_milliseconds` */
    bool https_only;                       /* refuse http, redirects to it included */
    bool expects_continue;                 /* keep the body until the server wants it, or a second has passed */
    bool is_idempotent;                    /* to send it twice does no more than once, whatever its method */
    uint32_t attempts;                     /* how often it may be sent, where that does nothing twice; 0: once */
    int64_t wait_milliseconds;             /* 0: only if the network is there now; UPLINK_INFINITE */
    const uplink_requirement *requirement; /* what to wait for; NULL: a way to the internet */
    int64_t connect_milliseconds;          /* until the connection stands, TLS included; 10 s */
    int64_t first_byte_milliseconds;       /* from there, or the body's last byte, until the answer's head; 60 s */
    int64_t stall_milliseconds;            /* without a byte of a body, unless a callback holds it up; 30 s */
    int64_t total_milliseconds;            /* for everything but the wait for the network; none */
    uplink_sent_cb sent;                   /* is told how far the request's body is; NULL: nobody is */
} uplink_request_options;

#define UPLINK_REQUEST_OPTIONS_INIT                                                                  \
    {sizeof(uplink_request_options), false, false, false, false, 0, 0, NULL, 0, 0, 0, 0, NULL}

/*
 * Sends a request and hands on the body of the answer as it arrives.
 *
 * options: NULL for the defaults.
 *
 * How many are under way at the same time says uplink_get().
 *
 * With `attempts`, what failed for want of a network, or with an answer of 408, 425, 429, 502, 503 or 504, is sent again
 * after a pause, for which the server may ask: what certainly did not go out, whatever its method, and otherwise what is
 * idempotent. GET, HEAD, OPTIONS, TRACE, PUT and DELETE are.
 *
 * Otherwise as uplink_get(), whose errors and statuses may come, and UPLINK_EBODY, UPLINK_EFILE or what the request's
 * own callback returned.
 */
int uplink_request_send(
    uplink_context *context, const uplink_request *request, const uplink_request_options *options, uplink_body_cb body,
    uplink_get_cb done, void *user, uint64_t *id);

/*
 * Sends a request and collects the body of the answer in memory, to be had at the end.
 *
 * limit: the most bytes to accept; a larger body ends the transfer with UPLINK_ETOOLARGE. SIZE_MAX: no limit, and a body
 *   that memory does not hold ends the process.
 *
 * Otherwise as uplink_request_send().
 */
int uplink_request_collect(
    uplink_context *context, const uplink_request *request, const uplink_request_options *options, size_t limit,
    uplink_get_cb done, void *user, uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
