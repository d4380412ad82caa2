/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of any method, with bodies. Part of uplink.h, which has the rules for all of it. */
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

/* What is to be sent: method, URL, header fields and body. A request may be sent any number of times. It may be changed
 * or freed while it is being sent, which does not disturb what was sent before. */
typedef struct uplink_request uplink_request;

/*
 * Creates a request without header fields or a body; free it with uplink_request_free().
 *
 * method: such as "PUT", in upper case as in HTTP; not "CONNECT".
 * url: absolute, http or https.
 * request: set to the new request, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EURL, UPLINK_EREQUEST for the method. Since 1.1.0, like everything in this header.
 */
int uplink_request_create(const char *method, const char *url, uplink_request **request);

/* Frees a request. Calls that are sending it go on. No other function may be using it, or use it later. NULL is
 * allowed. */
void uplink_request_free(uplink_request *request);

/*
 * Adds a header field. Fields that frame the message, such as Content-Length or Host, are set by the library.
 *
 * Errors: UPLINK_EINVAL, also for text that is not UTF-8, and when there are 256 fields already; UPLINK_EREQUEST when
 * the field must not be sent, for example because its value begins or ends with a blank. A field that the library sets
 * itself is reported only when the request ends.
 */
int uplink_request_add_header(uplink_request *request, const char *name, const char *value);

/*
 * Sets the body to a copy of these bytes. NULL with a count of 0 is an empty body.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body(uplink_request *request, const void *bytes, size_t count);

/*
 * Sets the body to the contents of a regular file at the time it is sent. The file is read a little ahead of what goes
 * out. If it cannot be read, the transfer ends with UPLINK_EFILE; if it shrinks or grows meanwhile, with UPLINK_EBODY.
 * As with uplink_get_file(), no timeout ends a transfer that waits for libuv's thread pool.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body_file(uplink_request *request, const char *path);

/*
 * Called for the next piece of a body when there is room for it, where the context's other callbacks run.
 *
 * offset: how many bytes of the body it has given before; 0 again when the body is sent again.
 * bytes, count: where to write the piece, and for how many bytes there is room, at least 1.
 *
 * Returns how many bytes it wrote; 0 for the end of the body; UPLINK_EAGAIN when there are none yet, and it is called
 * again after uplink_resume(); or another negative number, which ends the transfer and becomes its status, INT_MIN if
 * it is below that (numbers of the program's own are -1000 or less). More than `count` ends it with UPLINK_EINVAL.
 */
typedef int64_t (*uplink_read_cb)(
    uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user);

/* The length of a body whose length is not known before it ends. */
#define UPLINK_UNKNOWN_LENGTH ((int64_t)-1)

/*
 * Sets the body to what a callback gives.
 *
 * length: how many bytes there are; the callback is asked for no more. If it gives fewer, the transfer ends with
 *   UPLINK_EBODY, and the server never sees a body that looks whole. UPLINK_UNKNOWN_LENGTH sends the body in chunks.
 * can_rewind: whether the callback can start again at offset 0, for a redirect or another attempt. If not, a request
 *   that would need it ends with the answer or error that it has, or with UPLINK_EBODY.
 * user: passed to `read`, and separate from that of the call. It must last until the last call with this body has
 *   ended.
 *
 * Errors: UPLINK_EINVAL.
 */
int uplink_request_set_body_source(
    uplink_request *request, int64_t length, bool can_rewind, uplink_read_cb read, void *user);

/* Called with how many bytes of the body have gone out, fewer than before when the body is sent again, and with its
 * length or UPLINK_UNKNOWN_LENGTH. A slow callback gets the newest numbers and misses those in between. An answer that
 * comes before the whole body has gone out may be the end of it, so the last numbers reported need not be those of the
 * whole body. */
typedef void (*uplink_sent_cb)(uplink_context *context, uint64_t id, int64_t sent, int64_t length, void *user);

/* Timeouts are in milliseconds, from the transfer's turn on (only `total_milliseconds` includes the wait for it);
 * 0: the default given here; UPLINK_INFINITE: none. */
typedef struct uplink_request_options {
    size_t size;                           /* sizeof(uplink_request_options) */
    bool waits_for_network;                /* wait for the network first, for up to `wait_milliseconds` */
    bool https_only;                       /* refuse http, redirects to it included */
    bool expects_continue;                 /* hold the body back until the server wants it, or a second has passed */
    bool is_idempotent;                    /* sending it twice does no more than sending it once, whatever its method */
    uint32_t attempts;                     /* how often it may be sent where that does nothing twice; 0: once */
    int64_t wait_milliseconds;             /* 0: only if the network is there now; UPLINK_INFINITE */
    const uplink_requirement *requirement; /* what to wait for; NULL: a way to the internet */
    int64_t connect_milliseconds;          /* until the connection is established, TLS included; 10 s */
    int64_t first_byte_milliseconds;       /* from then, or the body's last byte, until the answer's head; 60 s */
    int64_t stall_milliseconds;            /* without a byte of a body, unless a callback holds it up; 30 s */
    int64_t total_milliseconds;            /* for everything but the wait for the network; none */
    uplink_sent_cb sent;                   /* called with how much of the body has gone out; NULL: none */
} uplink_request_options;

#define UPLINK_REQUEST_OPTIONS_INIT                                                                  \
    {sizeof(uplink_request_options), false, false, false, false, 0, 0, NULL, 0, 0, 0, 0, NULL}

/*
 * Sends a request and hands on the body of the answer as it arrives.
 *
 * options: NULL for the defaults.
 *
 * uplink_get() says how many transfers run at the same time.
 *
 * With `attempts`, a request that failed because of the network, or with an answer of 408, 425, 429, 502, 503 or 504,
 * is sent again after a pause, whose length the server may ask for. If it certainly did not go out, that is done
 * whatever its method; otherwise only if it is idempotent. GET, HEAD, OPTIONS, TRACE, PUT and DELETE are.
 *
 * Otherwise as uplink_get(), with its errors and statuses, and also UPLINK_EBODY, UPLINK_EFILE or what the request's
 * own callback returned.
 */
int uplink_request_send(
    uplink_context *context, const uplink_request *request, const uplink_request_options *options, uplink_body_cb body,
    uplink_get_cb done, void *user, uint64_t *id);

/*
 * Sends a request and collects the body of the answer in memory, where `done` gets it.
 *
 * limit: the most bytes to accept; a larger body ends the transfer with UPLINK_ETOOLARGE. SIZE_MAX: no limit, and a
 *   body too large for the memory ends the process.
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
