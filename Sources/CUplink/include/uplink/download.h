/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads that outlive an outage. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_DOWNLOAD_H
#define UPLINK_DOWNLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"
#include "perform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a download is doing. */
typedef enum uplink_download_phase {
    UPLINK_DOWNLOAD_PREPARING = 0,  /* it opens its files, and reads what an earlier download left */
    UPLINK_DOWNLOAD_WAITING = 1,    /* the network is away; it goes on as soon as the network is back */
    UPLINK_DOWNLOAD_CONNECTING = 2, /* it asks the server for the whole file */
    UPLINK_DOWNLOAD_RESUMING = 3,   /* it asks the server for what is missing */
    UPLINK_DOWNLOAD_RECEIVING = 4,  /* bytes arrive */
    UPLINK_DOWNLOAD_PAUSING = 5,    /* an attempt failed; the next one comes after a pause */
    UPLINK_DOWNLOAD_VERIFYING = 6,  /* all bytes are there; they are checked and flushed to the disk */
    UPLINK_DOWNLOAD_FINISHED = 7,   /* the file has its name */
    UPLINK_DOWNLOAD_FAILED = 8      /* there is no file */
} uplink_download_phase;

/* The state of a download at one moment. Times are in milliseconds. */
typedef struct uplink_download_progress {
    size_t size;
    int phase;                      /* an uplink_download_phase */
    uint32_t attempt;               /* how many attempts there have been, this one included */
    uint32_t resumptions;           /* how often it has gone on from where it was */
    uint32_t restarts;              /* how often it has started over after bytes had come, or been announced */
    int64_t received;               /* bytes of the file that are there; less than before only after a restart */
    int64_t total;                  /* the bytes that there will be; -1: not known */
    int64_t bytes_per_second;       /* over the last few seconds */
    int64_t left_milliseconds;      /* what the rest takes at this rate; -1: not known */
    int64_t remaining_milliseconds; /* until the deadline; -1: there is none */
    int64_t pause_milliseconds;     /* what is left of the pause; -1: there is none */
    const char *trouble;            /* why an attempt failed, or what the network lacks; NULL: all is well, or over */
} uplink_download_progress;

/* Called with the state of a download, then with every change of it; for changes of the byte counts alone at most ten
 * times a second. A slow callback gets the newest state and misses those in between. */
typedef void (*uplink_download_progress_cb)(
    uplink_context *context, uint64_t id, const uplink_download_progress *progress, void *user);

/* Timeouts apply to each attempt, in milliseconds; 0: the default given here; UPLINK_INFINITE: none. */
typedef struct uplink_download_options {
    size_t size;                           /* sizeof(uplink_download_options) */
    bool replace_existing;                 /* the file may exist; the new one replaces it atomically when it is whole */
    bool starts_over;                      /* neither use what an earlier download left, nor leave anything */
    bool accepts_unframed;                 /* a body may end with its connection, although it may then be cut short */
    bool ignores_network;                  /* ask no monitor, for servers that can be reached without a network */
    bool https_only;                       /* refuse http, redirects to it included */
    uint32_t maximum_failures;             /* more failures in a row without a new byte end it; 0: no limit */
    int64_t expected_size;                 /* how many bytes there must be; 0: as many as the server says */
    int64_t maximum_size;                  /* the most bytes to accept; 0: 1 TiB */
    const char *sha256;                    /* the digest that the file must have, as 64 hexadecimal digits; NULL: any */
    const uplink_requirement *requirement; /* what each attempt needs of the network; NULL: a way to the internet */
    const char *const *headers;            /* "Name: value" each, 256 at most, in UTF-8, then NULL; NULL: none */
    int64_t connect_milliseconds;          /* until the connection is established, TLS included; 10 s */
    int64_t first_byte_milliseconds;       /* from then until the answer's head; 60 s */
    int64_t stall_milliseconds;            /* without a byte of the body; 30 s */
    uplink_download_progress_cb progress;  /* called with the progress; NULL: none */
} uplink_download_options;

#define UPLINK_DOWNLOAD_OPTIONS_INIT                                                                     \
    {sizeof(uplink_download_options), false, false, false, false, false, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, NULL}

/* How a download ended. */
typedef struct uplink_download_result {
    size_t size;
    int status;           /* UPLINK_OK: the file is whole, and has its name */
    int http_status;      /* of the last answer, with UPLINK_OK, UPLINK_ESTATUS, and UPLINK_ETIMEDOUT after a refusal
                           * such as 503; else 0, also when nothing was missing */
    const char *path;     /* the file's, as it was given, without repeated or trailing slashes */
    const char *url;      /* with UPLINK_OK the URL that answered, after all redirects; else NULL */
    int64_t bytes;        /* the file's size; 0 where there is none */
    int64_t transferred;  /* with UPLINK_OK bytes that came over the network; fewer than `bytes` when some were there
                           * before. Else 0 */
    int64_t kept;         /* after a failure: bytes that are kept for a later one of that URL to that path. Cancelled: 0,
                           * though some may be kept */
    uint32_t attempts;    /* these three with UPLINK_OK; else 0 */
    uint32_t resumptions; /* how often it went on from where it was */
    uint32_t restarts;    /* how often it started over after bytes had come, or been announced */
    uint32_t reserved;    /* 0 */
    const char *message;  /* the status in words, with what the system said */
} uplink_download_result;

/* Called once, at the end of a download; nothing of the call is used after it. */
typedef void (*uplink_download_cb)(
    uplink_context *context, uint64_t id, const uplink_download_result *result, void *user);

/*
 * Downloads a file, which gets its name only when it is whole; until then the bytes are in a hidden file beside it.
 * When the network is lost, the connection breaks or the server is away, the download waits, and then goes on from
 * where it was if the server confirms that it still has the same file, and starts over otherwise. The next download of
 * the same URL to the same path uses what one that failed or was killed has left. uplink_get() says how many transfers
 * run at the same time. Since 1.1.0.
 *
 * path: the file; its directory must exist. It gets mode 0600, even if it replaces another; see chmod(2).
 * within_milliseconds: the limit on everything, waits, attempts and pauses; UPLINK_INFINITE. If the disk does not
 *   answer, the download ends up to a second later.
 * options: NULL for the defaults.
 * done: called at the end.
 * id: set to the call's id; may be NULL.
 *
 * The status at the end is UPLINK_OK; UPLINK_ETIMEDOUT when the time ran out; UPLINK_EEXIST, UPLINK_EINUSE,
 * UPLINK_EDISKFULL or UPLINK_EFILE for the file; UPLINK_ESTATUS, UPLINK_ECHANGED, UPLINK_ESIZE, UPLINK_ETOOLARGE,
 * UPLINK_ECHECKSUM or UPLINK_EPROTOCOL for what the server gave; UPLINK_ECANCELED, UPLINK_ESTOPPED, UPLINK_EMONITOR,
 * UPLINK_EREQUEST; or the error of the last attempt, when another one would not help or more than `maximum_failures`
 * have failed: a value of 1 allows two attempts.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EURL, UPLINK_EREQUEST, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_download(
    uplink_context *context, const char *url, const char *path, int64_t within_milliseconds,
    const uplink_download_options *options, uplink_download_cb done, void *user, uint64_t *id);

#ifdef __cplusplus
}
#endif

#endif
