/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: where calls are made, and where callbacks run. Part of uplink.h, which says what holds for all of it. */
#ifndef UPLINK_CONTEXT_H
#define UPLINK_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if SIZE_MAX < UINT64_MAX
#error "libuplink's structures are those of 64-bit machines; on others the library would refuse them all (UPLINK_EINVAL)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Waiting without a limit. */
#define UPLINK_INFINITE ((int64_t)-1)

/* Everything that belongs together: a thread for the work, a monitor of the network, connections, callbacks. */
typedef struct uplink_context uplink_context;

typedef enum uplink_log_level {
    UPLINK_LOG_ERROR = 1,   /* the context cannot do its work */
    UPLINK_LOG_WARNING = 2, /* a call failed */
    UPLINK_LOG_INFO = 3,    /* the network's path changed */
    UPLINK_LOG_DEBUG = 4    /* calls begin and end */
} uplink_log_level;

/* Is told what happens. Runs where the context's other callbacks run. Where more than 1,000 messages wait to be told,
 * further ones are left out and the next one says how many. */
typedef void (*uplink_log_cb)(uplink_context *context, int level, const char *message, void *user);

typedef struct uplink_context_options {
    size_t size;                   /* sizeof(uplink_context_options) */
    bool dispatch;                 /* callbacks run in uplink_dispatch() alone; otherwise on a thread of the context */
    const char *network_namespace; /* its name or path (ip-netns(8)), which needs CAP_SYS_ADMIN; NULL: the caller's */
    const char *ca_file;           /* authorities to trust in place of the system's (PEM); NULL: the system's. What is
                                    * wrong in it is told by the first https transfer (UPLINK_EINVAL) */
    uplink_log_cb log;             /* NULL: no log */
    void *log_user;                /* given to `log` */
    int log_level;                 /* the finest uplink_log_level that is told; 0: UPLINK_LOG_WARNING */
    uint32_t reserved;             /* 0 */
} uplink_context_options;

#define UPLINK_CONTEXT_OPTIONS_INIT {sizeof(uplink_context_options), false, NULL, NULL, NULL, NULL, 0, 0}

/*
 * Creates a context, whose threads have started when this returns and have all signals blocked. It is to be destroyed
 * before the program exits; see uplink.h. Where descriptors 0 to 2 are closed, /dev/null is opened there and stays.
 *
 * options: NULL for the defaults. With `network_namespace` the context's thread enters it; threads that Swift's runtime
 *   makes meanwhile may begin in that namespace too, and they are only the library's own.
 * context: set to the new context, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESYSTEM, UPLINK_ENAMESPACE.
 */
int uplink_context_create(const uplink_context_options *options, uplink_context **context);

/*
 * Ends everything that is pending with UPLINK_ESTOPPED, whose callbacks come before this returns, and destroys the
 * context. When it returns no callback runs any more and no thread, descriptor or connection of the context is left.
 *
 * With `dispatch`, the last callbacks run inside this function. It waits for a callback that runs, however long that
 * takes. An operation that has begun is not waited for. NULL is allowed and does nothing.
 *
 * Errors: UPLINK_EDEADLK when called from one of the context's own callbacks, which does nothing; UPLINK_ESTOPPED when
 * another thread is already destroying it; UPLINK_EBADHANDLE when it has been destroyed.
 */
int uplink_context_destroy(uplink_context *context);

/*
 * The descriptor to wait on with poll(2) or in an event loop of one's own: readable while callbacks are to be run. It
 * belongs to the context; do not read from it or close it. It is level-triggered: it stays readable until
 * uplink_dispatch() has run all that is due, also while another thread is in there. EPOLLET misses what comes meanwhile.
 *
 * Returns the descriptor, or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBADHANDLE.
 */
int uplink_descriptor(uplink_context *context);

/*
 * Runs the callbacks that are due, on the calling thread, and does not wait for more.
 *
 * Returns how many ran, or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBUSY when another
 * thread is in it, UPLINK_EDEADLK when called from a callback of this context, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_dispatch(uplink_context *context);

/*
 * Cancels a call. Its last callback still comes, with UPLINK_ECANCELED, unless the call ended otherwise at that moment.
 * Of its other callbacks at most one still comes: one that runs, or that another thread was about to begin, which may
 * then begin after this has returned. What callbacks use may be freed in the last one, not after this. Called from a
 * callback of the context, or by the thread that calls uplink_dispatch(), none but the last one follows.
 *
 * An operation that has begun is not stopped; it may ask uplink_is_cancelled(), and has the last word.
 *
 * Errors: UPLINK_ENOENT when the call has ended or never was, which is harmless; UPLINK_EBADHANDLE.
 */
int uplink_cancel(uplink_context *context, uint64_t id);

/*
 * Whether a call that has not ended was cancelled, or its context is being destroyed.
 *
 * Returns 1 or 0, or UPLINK_ENOENT, UPLINK_EBADHANDLE.
 */
int uplink_is_cancelled(uplink_context *context, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
