/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: where calls are made, and where callbacks run. Part of uplink.h, which has the rules for all of it. */
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

/* Wait without a limit. */
#define UPLINK_INFINITE ((int64_t)-1)

/* Everything that belongs together: a thread for the work, a monitor of the network, connections, callbacks. */
typedef struct uplink_context uplink_context;

typedef enum uplink_log_level {
    UPLINK_LOG_ERROR = 1,   /* the context cannot do its work */
    UPLINK_LOG_WARNING = 2, /* a call failed */
    UPLINK_LOG_INFO = 3,    /* the network's path changed */
    UPLINK_LOG_DEBUG = 4    /* calls begin and end */
} uplink_log_level;

/* Called with each log message, where the context's other callbacks run. While more than 1,000 messages are waiting,
 * further ones are dropped, and the next one says how many. */
typedef void (*uplink_log_cb)(uplink_context *context, int level, const char *message, void *user);

typedef struct uplink_context_options {
    size_t size;                   /* sizeof(uplink_context_options) */
    bool dispatch;                 /* callbacks run only in uplink_dispatch(); otherwise on a thread of the context */
    const char *network_namespace; /* name or path (ip-netns(8)); needs CAP_SYS_ADMIN; NULL: the caller's */
    const char *ca_file;           /* authorities to trust instead of the system's (PEM); NULL: the system's. If the
                                    * file has none, the first https transfer ends with UPLINK_EINVAL */
    uplink_log_cb log;             /* NULL: no log */
    void *log_user;                /* passed to `log` */
    int log_level;                 /* the finest uplink_log_level that is logged; 0: UPLINK_LOG_WARNING */
    uint32_t reserved;             /* 0 */
} uplink_context_options;

#define UPLINK_CONTEXT_OPTIONS_INIT {sizeof(uplink_context_options), false, NULL, NULL, NULL, NULL, 0, 0}

/*
 * Creates a context. Its threads have started when this returns, and have all signals blocked but those of faults.
 * Destroy it before the program exits; see uplink.h. If any of the descriptors 0 to 2 is closed, /dev/null is opened
 * there and stays open.
 *
 * options: NULL for the defaults. With `network_namespace` the context's thread enters that namespace; threads that
 *   Swift's runtime creates meanwhile may start in it too, but those are only the library's own.
 * context: set to the new context, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESYSTEM, UPLINK_ENAMESPACE.
 */
int uplink_context_create(const uplink_context_options *options, uplink_context **context);

/*
 * Ends everything that is pending with UPLINK_ESTOPPED and destroys the context. The callbacks of what it ends run
 * before this returns; afterwards no callback runs any more, and no thread, descriptor or connection of the context is
 * left.
 *
 * With `dispatch`, the last callbacks run inside this function. It waits for a callback that is running and for what a
 * download is doing with its file, however long that takes, but not for an operation that has begun. NULL is allowed
 * and does nothing.
 *
 * Errors: UPLINK_EDEADLK when called from one of the context's own callbacks, and nothing is done; UPLINK_ESTOPPED when
 * another thread is already destroying the context; UPLINK_EBADHANDLE when it has been destroyed.
 */
int uplink_context_destroy(uplink_context *context);

/*
 * The descriptor to wait on with poll(2) or in an event loop of your own: it is readable while callbacks are due. It
 * belongs to the context; do not read from it or close it. It is level-triggered: it stays readable until
 * uplink_dispatch() has run all that is due, also while another thread is in it. With EPOLLET, later callbacks are
 * missed.
 *
 * Returns the descriptor; or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBADHANDLE.
 */
int uplink_descriptor(uplink_context *context);

/*
 * Runs the callbacks that are due on the calling thread, and does not wait for more.
 *
 * Returns how many ran; or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBUSY when another
 * thread is in this function, UPLINK_EDEADLK when called from a callback of this context, UPLINK_ESTOPPED,
 * UPLINK_EBADHANDLE.
 */
int uplink_dispatch(uplink_context *context);

/*
 * Cancels a call. Its last callback still runs, with UPLINK_ECANCELED unless the call ended otherwise at that moment.
 * At most one of its other callbacks still runs: one that is running, or one that another thread was about to begin,
 * which may then begin after this has returned. So free what callbacks use in the last one, not after this returns. If
 * this is called from a callback of the context, or by the thread that calls uplink_dispatch(), only the last one
 * follows.
 *
 * An operation that has begun is not stopped; it may ask uplink_is_cancelled(), and its own result stands.
 *
 * Errors: UPLINK_ENOENT when the call has ended or never existed, which is harmless; UPLINK_EBADHANDLE.
 */
int uplink_cancel(uplink_context *context, uint64_t id);

/*
 * Whether a call that has not ended yet was cancelled, or its context is being destroyed. A callback that runs then
 * gets 1 until it returns.
 *
 * Returns 1 or 0; or UPLINK_ENOENT when the call has ended or never existed, UPLINK_EBADHANDLE.
 */
int uplink_is_cancelled(uplink_context *context, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
