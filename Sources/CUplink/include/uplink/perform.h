/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that need the network. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_PERFORM_H
#define UPLINK_PERFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "path.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an operation may need, to be combined with |. No flag at all means a way to the internet, over either family. An
 * interface's kind or name also requires a way to the internet, even with UPLINK_REQUIRE_LOCAL_NETWORK. */
#define UPLINK_REQUIRE_IPV4 UINT32_C(0x1)          /* a way to the internet over IPv4 */
#define UPLINK_REQUIRE_IPV6 UINT32_C(0x2)          /* a way to the internet over IPv6 */
#define UPLINK_REQUIRE_LOCAL_NETWORK UINT32_C(0x4) /* a connected or routed network is enough, internet or not */
#define UPLINK_REQUIRE_NOT_METERED UINT32_C(0x8)   /* a way to the internet that is not known to cost money or quota */

typedef struct uplink_requirement {
    size_t size;                 /* sizeof(uplink_requirement) */
    uint32_t flags;              /* UPLINK_REQUIRE_… */
    int interface_kind;          /* the way must lead through an interface of this uplink_kind; 0: any */
    const char *interface_name;  /* the way must lead through the interface of this name; NULL: any */
    int64_t stable_milliseconds; /* how long it must be there without a break, from when this call first sees it, so
                                  * less than the call's own limit; 0: no matter */
} uplink_requirement;

#define UPLINK_REQUIREMENT_INIT {sizeof(uplink_requirement), 0, UPLINK_KIND_ANY, NULL, 0}

/* The operation. It may do its work here, or start it and return. In either case uplink_operation_complete() must be
 * called once, here or later, from any thread. */
typedef void (*uplink_operation_cb)(uplink_context *context, uint64_t id, void *user);

typedef struct uplink_outcome {
    size_t size;
    int status;          /* UPLINK_OK: the operation ran and is complete. Otherwise why not */
    bool started;        /* whether the operation ever began; if false, it never will */
    int result;          /* what uplink_operation_complete() was given; 0 unless the status is UPLINK_OK */
    const char *message; /* the status in words, with what was missing */
} uplink_outcome;

/* Called once, with what became of an operation; nothing of the call is used after it. */
typedef void (*uplink_outcome_cb)(
    uplink_context *context, uint64_t id, const uplink_outcome *outcome, void *user);

/*
 * Runs an operation if the network is there, or as soon as it comes within a time limit; otherwise never.
 *
 * timeout_milliseconds: the limit on waiting; 0: only if the network is there now; UPLINK_INFINITE. Right after the
 *   context's creation the call waits for the kernel's first answer whatever the limit: usually milliseconds, on a busy
 *   machine up to five seconds.
 * requirement: what the operation needs of the network; NULL: a way to the internet.
 * operation: runs at most once.
 * outcome: runs exactly once, after the operation is complete or when it will never begin. Its status is UPLINK_OK, or
 *   if the operation never began UPLINK_ENONETWORK, UPLINK_ECANCELED, UPLINK_EMONITOR or UPLINK_ESTOPPED.
 *   UPLINK_ESTOPPED also comes when the context was destroyed while the operation ran; `started` is then true.
 * id: set to the call's id before the operation can begin; may be NULL.
 *
 * Waiting operations begin in the order in which they were submitted. Losing the network does not disturb an operation
 * that is running.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_perform(
    uplink_context *context, int64_t timeout_milliseconds, const uplink_requirement *requirement,
    uplink_operation_cb operation, uplink_outcome_cb outcome, void *user, uint64_t *id);

/*
 * Reports that an operation that has begun is complete.
 *
 * result: any number; the outcome has it.
 *
 * Errors: UPLINK_ENOENT when no such operation runs: it never began, is complete already, or its context was destroyed;
 * UPLINK_EBADHANDLE.
 */
int uplink_operation_complete(uplink_context *context, uint64_t id, int result);

/*
 * Blocks the calling thread until the network is there.
 *
 * timeout_milliseconds, requirement: as for uplink_perform().
 *
 * Returns UPLINK_OK when it is there, UPLINK_ENONETWORK when it did not come in time, UPLINK_EINVAL, UPLINK_EMONITOR,
 * UPLINK_ESTOPPED when the context is destroyed while this waits, UPLINK_EBADHANDLE.
 */
int uplink_wait(uplink_context *context, int64_t timeout_milliseconds, const uplink_requirement *requirement);

#ifdef __cplusplus
}
#endif

#endif
