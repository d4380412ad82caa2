/* SPDX-License-Identifier: Apache-2.0 */
/* GET, in its three forms. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_GET_H
#define UPLINK_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"
#include "perform.h"
#include "response.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Timeouts are in milliseconds, from the transfer's turn on (only `total_milliseconds` includes the wait for it);
 * 0: the default given here; UPLINK_INFINITE: none. */
typedef struct uplink_get_options {
    size_t size;                           /* sizeof(uplink_get_options) */
    bool waits_for_network;                /* wait for the network first, for up to `wait_milliseconds` */
    bool replace_existing;                 /* uplink_get_file(): the file may exist; it must be a regular one */
    bool https_only;                       /* refuse http, redirects to it included */
    int64_t wait_milliseconds;             /* 0: only if the network is there now; UPLINK_INFINITE */
    const uplink_requirement *requirement; /* what to wait for; NULL: a way to the internet */
    const char *const *headers;            /* "Name: value" each, 256 at most, in UTF-8, then NULL; NULL: none */
    int64_t connect_milliseconds;          /* until the connection is established, TLS included; 10 s */
    int64_t first_byte_milliseconds;       /* from then until the answer's head; 60 s */
    int64_t stall_milliseconds;            /* without a byte of the body; 30 s */
    int64_t total_milliseconds;            /* for everything but the wait for the network; none */
} uplink_get_options;

#define UPLINK_GET_OPTIONS_INIT {sizeof(uplink_get_options), false, false, false, 0, NULL, NULL, 0, 0, 0, 0}

typedef struct uplink_get_result {
    size_t size;
    int status;                      /* UPLINK_OK: the whole body has arrived */
    const uplink_response *response; /* NULL when the transfer ended before the answer's head had arrived */
    const void *bytes;               /* uplink_get_collect(): the body; else NULL */
    size_t count;                    /* how many bytes that is */
    int64_t received;                /* bytes of the body that were handed on or written; 0 if it was to be whole, in
                                      * memory or in a file, and is not */
    const char *message;             /* the status in words, with what the system said */
} uplink_get_result;

/* Called once, at the end of a transfer; nothing of the call is used after it. */
typedef void (*uplink_get_cb)(
    uplink_context *context, uint64_t id, const uplink_get_result *result, void *user);

/* What a body callback returns. */
#define UPLINK_CONTINUE 0
#define UPLINK_PAUSE 1

/*
 * Called with the body, piece by piece. The first call has only the head, with `count` 0 and `bytes` NULL.
 *
 * Returns UPLINK_CONTINUE; UPLINK_PAUSE, and no more comes until uplink_resume(); or a negative number, which ends the
 * transfer and becomes its status (numbers of the program's own are -1000 or less). During a pause the server has to
 * wait once the library's buffer is full. The total timeout keeps running, and so does the stall timeout until the
 * buffer is full; if one runs out, that is reported after uplink_resume().
 */
typedef int (*uplink_body_cb)(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user);

/*
 * Fetches a URL and hands on the body as it arrives.
 *
 * Six transfers to one host (scheme, name and port) and 128 of the context are under way at the same time, of whatever
 * function; one that is paused keeps its place. Up to 10,000 more wait for their turn.
 *
 * options: NULL for the defaults.
 * body: called with the pieces.
 * done: called at the end.
 * id: set to the call's id; may be NULL.
 *
 * The status at the end is UPLINK_OK, UPLINK_ENONETWORK when nothing was sent because the network did not come,
 * UPLINK_ECANCELED, UPLINK_ESTOPPED, UPLINK_EMONITOR, UPLINK_EAGAIN when 10,000 transfers of the context are waiting
 * already, UPLINK_EINVAL when `body` returned a positive number that it may not return or `ca_file` cannot be used,
 * one of the errors from UPLINK_ETIMEDOUT on (UPLINK_ETOOLARGE also for an answer with more than 256 header fields or
 * a head of more than 64 KiB), or what `body` returned.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EURL, UPLINK_EREQUEST, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_get(
    uplink_context *context, const char *url, const uplink_get_options *options, uplink_body_cb body,
    uplink_get_cb done, void *user, uint64_t *id);

/*
 * Lets a paused body go on, that of the answer or of the request. It also counts when it comes before the callback that
 * pauses has returned.
 *
 * Errors: UPLINK_ENOENT when there is no such transfer, UPLINK_EBADHANDLE.
 */
int uplink_resume(uplink_context *context, uint64_t id);

/*
 * Fetches a URL and collects the body in memory, where `done` gets it.
 *
 * limit: the most bytes to accept; a larger body ends the transfer with UPLINK_ETOOLARGE. SIZE_MAX: no limit, and a
 *   body too large for the memory ends the process.
 *
 * Otherwise as uplink_get().
 */
int uplink_get_collect(
    uplink_context *context, const char *url, const uplink_get_options *options, size_t limit, uplink_get_cb done,
    void *user, uint64_t *id);

/*
 * Fetches a URL and writes the body to a file, which gets its name only when it is whole. The bytes go to a new file
 * beside it, which is renamed at the end and removed when anything fails before that. An answer whose status is not 200
 * is not written, but still ends with UPLINK_OK: look at the status and at `received`.
 *
 * path: the file; its directory must exist. It gets mode 0600, even if it replaces another; see chmod(2). Anything
 *   there that is not a regular file (a directory, a symbolic link, a device, a pipe) is never replaced: UPLINK_EFILE,
 *   before anything is sent.
 *
 * The file is written on libuv's thread pool; neither a timeout nor uplink_cancel() ends a transfer that waits for the
 * pool.
 *
 * The status at the end may also be UPLINK_EEXIST or UPLINK_EFILE. Otherwise as uplink_get().
 */
int uplink_get_file(
    uplink_context *context, const char *url, const uplink_get_options *options, const char *path,
    uplink_get_cb done, void *user, uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
