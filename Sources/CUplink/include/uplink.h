/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libuplink: run an operation when the network is there.
 *
 * A context does all work on threads of its own. Whatever takes time is a call: a function that starts it gives an id,
 * and a callback tells its end. These rules hold for every call:
 *
 * - When the function that starts it returns an error, nothing was started and no callback comes.
 * - Otherwise the callback that ends it comes exactly once, whatever happens, and never from inside that function.
 * - On the context's callback thread a callback may run before the caller has looked at the function's return value, and
 *   so before it has stored it: what both write needs a variable for each. The id is written before.
 * - Callbacks of one context run one after the other: on the context's callback thread, or, where the context was
 *   created with `dispatch`, inside uplink_dispatch(). They may block; that delays the context's other callbacks alone.
 * - Ids are never used again, so that cancelling a call which has ended is harmless.
 *
 * Unless a function says otherwise it may be called from any thread, also from callbacks, and returns UPLINK_OK or a
 * negative error. Nothing given to a function is kept after its return, except `user` and callbacks. Pointers that a
 * callback gets are good until it returns.
 *
 * Structures begin with their size, so that they can grow. Begin with the structure's …_INIT, then set what you need:
 *
 *     uplink_requirement requirement = UPLINK_REQUIREMENT_INIT;
 *     requirement.flags = UPLINK_REQUIRE_IPV6;
 */
#ifndef UPLINK_H
#define UPLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uplink/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Every error: its name, its number, which is never given to another one, and what to do. */
#define UPLINK_ERROR_MAP(X)                                                                                          \
    X(EINVAL, -1, "an argument is not valid: NULL, out of range, too long, or of an unknown kind")                    \
    X(EBADHANDLE, -2, "the context does not exist: it was never created, or has been destroyed")                      \
    X(ESTOPPED, -3, "the context is being destroyed, which ended the call")                                           \
    X(EDEADLK, -4, "called from a callback of this context, which the function would have to wait for")               \
    X(EBUSY, -5, "another thread is in uplink_dispatch; callbacks of a context run one at a time")                    \
    X(ENOENT, -6, "there is no such call, or it has ended, or is not of the kind that was asked for")                 \
    X(EAGAIN, -7, "not known yet; wait for it or try again")                                                          \
    X(ESYSTEM, -8, "the system refused a thread, a descriptor or memory; see `ulimit -a`")                            \
    X(ENAMESPACE, -9, "the network namespace does not exist, or root or CAP_SYS_ADMIN is needed to enter it")         \
    X(ECANCELED, -10, "cancelled")                                                                                    \
    X(ENONETWORK, -11, "the network did not come in time; nothing was started")                                       \
    X(EMONITOR, -12, "the state of the network cannot be told; is netlink forbidden in this sandbox?")                \
    X(ETIMEDOUT, -20, "the transfer took longer than one of its timeouts allows")                                     \
    X(EURL, -21, "the URL is not one that can be asked for; give an absolute http or https URL, percent-encoded")     \
    X(EREQUEST, -22, "a header field must not be sent")                                                               \
    X(ERESOLVE, -23, "the host's name has no address, or no name server would tell")                                  \
    X(ECONNECT, -24, "the connection was refused, or there is no way to the host")                                    \
    X(ERESET, -25, "the connection broke")                                                                            \
    X(ETLS, -26, "the server does not speak TLS 1.2 or newer as this library does")                                   \
    X(ECERTIFICATE, -27, "the server's certificate is not trusted, out of date, or for another host")                 \
    X(EPROTOCOL, -28, "what the server sent is not HTTP/1.1 as it must be")                                           \
    X(ETRUNCATED, -29, "the body ended before its announced end")                                                     \
    X(ETOOLARGE, -30, "the answer is larger than the limit; raise the limit, or write it to a file")                  \
    X(EREDIRECT, -31, "too many redirects, or one to where this library does not go")                                 \
    X(EEXIST, -32, "the file exists; set `replace_existing`, or give another name")                                   \
    X(EFILE, -33, "the file cannot be written")                                                                       \
    X(EENCODING, -34, "the body has a content coding that nobody asked for")                                          \
    X(ETRANSFER, -35, "the transfer failed in a way that has no number of its own; see the message")

typedef enum uplink_error {
    UPLINK_OK = 0
#define UPLINK_ERROR_NUMBER(name, number, text) , UPLINK_##name = number
    UPLINK_ERROR_MAP(UPLINK_ERROR_NUMBER)
#undef UPLINK_ERROR_NUMBER
} uplink_error;

/* What an error means, as an English sentence without a full stop; for a number that is none, a text that says so.
 * Never NULL; the text is static. */
const char *uplink_strerror(int error);

/* The name of an error, such as "UPLINK_EINVAL"; "UPLINK_OK" for 0, and "UPLINK_UNKNOWN" for a number that is none.
 * Never NULL; the text is static. */
const char *uplink_error_name(int error);

/* ---- Version ----------------------------------------------------------------------------------------------------- */

/* The version of the library that runs, to compare with UPLINK_VERSION_NUMBER(major, minor, patch). */
unsigned int uplink_version(void);

/* The same as text, such as "1.0.0"; static. */
const char *uplink_version_string(void);

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

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
    const char *ca_file;           /* authorities to trust in place of the system's (PEM); NULL: the system's */
    uplink_log_cb log;             /* NULL: no log */
    void *log_user;                /* given to `log` */
    int log_level;                 /* the finest uplink_log_level that is told; 0: UPLINK_LOG_WARNING */
    uint32_t reserved;             /* 0 */
} uplink_context_options;

#define UPLINK_CONTEXT_OPTIONS_INIT {sizeof(uplink_context_options), false, NULL, NULL, NULL, NULL, 0, 0}

/*
 * Creates a context, whose threads have started when this returns and have all signals blocked.
 *
 * options: NULL for the defaults.
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
 * belongs to the context; do not read from it or close it.
 *
 * Returns the descriptor, or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBADHANDLE.
 */
int uplink_descriptor(uplink_context *context);

/*
 * Runs the callbacks that are due, on the calling thread, and does not wait for more.
 *
 * Returns how many ran, or UPLINK_EINVAL when the context was created without `dispatch`, UPLINK_EBUSY when another
 * thread is in it, UPLINK_EDEADLK when called from a callback, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
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

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* What the network is like at one moment. Does not change, and may be used by many threads at once. */
typedef struct uplink_path uplink_path;

/* Why there is no network; in order of how near the network is. */
typedef enum uplink_reason {
    UPLINK_REASON_NONE = 0,            /* there is a network */
    UPLINK_REASON_NO_INTERFACE = 1,    /* no link is up */
    UPLINK_REASON_NO_ADDRESS = 2,      /* a link is up, but no address can be used on it yet */
    UPLINK_REASON_NO_ROUTE = 3,        /* there are addresses, but no route to the internet */
    UPLINK_REASON_BLOCKED = 4,         /* a route or a rule forbids the way */
    UPLINK_REASON_LINK_DOWN = 5,       /* there is a route, but the link it leads to is down */
    UPLINK_REASON_LINK_DORMANT = 6,    /* there is a route, but its link waits, as for authentication */
    UPLINK_REASON_ADDRESS_PENDING = 7, /* an address is being checked for duplicates */
    UPLINK_REASON_UNKNOWN = 8          /* the system would not say, or a reason newer than this header */
} uplink_reason;

/* How far a packet can go. */
typedef enum uplink_scope {
    UPLINK_SCOPE_NONE = 0,  /* nowhere */
    UPLINK_SCOPE_HOST = 1,  /* to this host alone */
    UPLINK_SCOPE_LINK = 2,  /* to neighbours on a link */
    UPLINK_SCOPE_SITE = 3,  /* to networks that are connected or routed, without a way to the internet */
    UPLINK_SCOPE_GLOBAL = 4 /* to the internet */
} uplink_scope;

typedef enum uplink_family { UPLINK_IPV4 = 4, UPLINK_IPV6 = 6 } uplink_family;

/* What is known of a next hop (arp(7)). */
typedef enum uplink_gateway_state {
    UPLINK_GATEWAY_NONE = 0,      /* there is no next hop, or nothing stands there */
    UPLINK_GATEWAY_REACHABLE = 1, /* it answered a moment ago */
    UPLINK_GATEWAY_STALE = 2,     /* it answered once, and will be asked again */
    UPLINK_GATEWAY_PROBING = 3,   /* it is being asked now */
    UPLINK_GATEWAY_FAILED = 4,    /* it did not answer */
    UPLINK_GATEWAY_PERMANENT = 5, /* it needs no answer */
    UPLINK_GATEWAY_UNKNOWN = 6    /* nothing was sent there yet */
} uplink_gateway_state;

/* What kind of link an interface is. */
typedef enum uplink_kind {
    UPLINK_KIND_ANY = 0, /* no kind: where one is asked for, any will do */
    UPLINK_KIND_ETHERNET = 1,
    UPLINK_KIND_WIFI = 2,
    UPLINK_KIND_CELLULAR = 3,
    UPLINK_KIND_TUNNEL = 4,
    UPLINK_KIND_BRIDGE = 5,
    UPLINK_KIND_LOOPBACK = 6,
    UPLINK_KIND_OTHER = 7
} uplink_kind;

/* Waiting without a limit. */
#define UPLINK_INFINITE ((int64_t)-1)

/*
 * The path as it is now; release it with uplink_path_release().
 *
 * timeout_milliseconds: how long to wait where the kernel has not answered yet, which takes milliseconds after the
 *   context's creation; 0: not at all; UPLINK_INFINITE.
 * path: set to the path, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EAGAIN when it is not known in that time, UPLINK_EMONITOR, UPLINK_ESTOPPED,
 * UPLINK_EBADHANDLE. Having no network is not an error.
 */
int uplink_current_path(uplink_context *context, int64_t timeout_milliseconds, uplink_path **path);

/* Is told a path, with status UPLINK_OK, or the end of watching, with an error and NULL: UPLINK_ECANCELED,
 * UPLINK_ESTOPPED, UPLINK_EMONITOR. A callback that is slow gets the newest path and misses those between. */
typedef void (*uplink_watch_cb)(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user);

/*
 * Tells the path, then every change of it, until cancelled.
 *
 * id: set to the call's id; may be NULL.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_watch(uplink_context *context, uplink_watch_cb callback, void *user, uint64_t *id);

/* Keeps a path beyond the callback that got it, or for another owner; each needs a release of its own. Returns the path,
 * or NULL for NULL. */
uplink_path *uplink_path_retain(const uplink_path *path);

/* Gives up a path that was retained or is one's own; what its functions returned is gone then. NULL is allowed. */
void uplink_path_release(uplink_path *path);

/*
 * What a path says. They cannot fail: for NULL, an index that is too large or a family that is none they return false,
 * 0 or NULL. Texts last as long as the path.
 */

/* Whether there is a usable route to the internet, in at least one address family. */
bool uplink_path_is_satisfied(const uplink_path *path);

/* Why not: an uplink_reason. */
int uplink_path_reason(const uplink_path *path);

/* How far a packet can go: an uplink_scope. */
int uplink_path_scope(const uplink_path *path);

/* Whether use is known to cost money or quota. */
bool uplink_path_is_expensive(const uplink_path *path);

/* Whether programs should use little. */
bool uplink_path_is_constrained(const uplink_path *path);

/* Whether the path is what the kernel said, and not a guess where netlink is forbidden. */
bool uplink_path_is_authoritative(const uplink_path *path);

/* Whether packets can go to at least one of the name servers. */
bool uplink_path_dns_is_reachable(const uplink_path *path);

/* Rises with every path that a context gives. */
uint64_t uplink_path_generation(const uplink_path *path);

/* Tells networks apart; 0 unless the path is satisfied. */
uint64_t uplink_path_network_id(const uplink_path *path);

/* One line for a person, such as "satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1". */
const char *uplink_path_description(const uplink_path *path);

/* Everything that is known, as one line of JSON: the object that `uplink watch --json` prints. */
const char *uplink_path_json(const uplink_path *path);

/* Whether a family (an uplink_family) can be used. */
bool uplink_path_family_is_available(const uplink_path *path, int family);

/* Why a family cannot be used: an uplink_reason. */
int uplink_path_family_reason(const uplink_path *path, int family);

/* The name of the interface that a family's route leads to; NULL where there is none. */
const char *uplink_path_family_interface(const uplink_path *path, int family);

/* The next hop, as text; NULL where the route is on-link or there is none. */
const char *uplink_path_family_gateway(const uplink_path *path, int family);

/* The source address that the kernel chooses, as text; NULL where there is none. */
const char *uplink_path_family_source(const uplink_path *path, int family);

/* Whether a family's only source address is deprecated: legal, but not wanted for new connections (RFC 4862). */
bool uplink_path_family_is_degraded(const uplink_path *path, int family);

/* What the kernel's neighbour table says of the next hop: an uplink_gateway_state. A hint, as old as the path. */
int uplink_path_family_gateway_state(const uplink_path *path, int family);

/* How many interfaces lead to the internet; the one in use comes first. */
size_t uplink_path_interface_count(const uplink_path *path);

/* The name of one of them. */
const char *uplink_path_interface_name(const uplink_path *path, size_t interface);

/* Its index (if_nametoindex(3)). */
uint32_t uplink_path_interface_index(const uplink_path *path, size_t interface);

/* Its kind: an uplink_kind. */
int uplink_path_interface_kind(const uplink_path *path, size_t interface);

/* The largest packet in bytes that it carries. */
uint32_t uplink_path_interface_mtu(const uplink_path *path, size_t interface);

/* Whether its use is known to cost money or quota. */
bool uplink_path_interface_is_metered(const uplink_path *path, size_t interface);

/* How many addresses of it can be used as a source. */
size_t uplink_path_interface_address_count(const uplink_path *path, size_t interface);

/* One of these addresses, as text. */
const char *uplink_path_interface_address(const uplink_path *path, size_t interface, size_t address);

/* How many interfaces are not in use through which a socket bound to one of them would reach the internet. */
size_t uplink_path_alternative_count(const uplink_path *path);

/* The name of one of these. */
const char *uplink_path_alternative_name(const uplink_path *path, size_t alternative);

/* How many name servers the resolver asks (resolv.conf(5)). */
size_t uplink_path_resolver_count(const uplink_path *path);

/* The address of one of these, as text. */
const char *uplink_path_resolver_address(const uplink_path *path, size_t resolver);

/* ---- Operations that need the network ---------------------------------------------------------------------------- */

/* What an operation may need, to be joined with |. Nothing at all means: a way to the internet, over either family. */
#define UPLINK_REQUIRE_IPV4 UINT32_C(0x1)          /* a way to the internet over IPv4 */
#define UPLINK_REQUIRE_IPV6 UINT32_C(0x2)          /* a way to the internet over IPv6 */
#define UPLINK_REQUIRE_LOCAL_NETWORK UINT32_C(0x4) /* a connected or routed network is enough, internet or not */
#define UPLINK_REQUIRE_NOT_METERED UINT32_C(0x8)   /* a way to the internet that is not known to cost money or quota */

typedef struct uplink_requirement {
    size_t size;                 /* sizeof(uplink_requirement) */
    uint32_t flags;              /* UPLINK_REQUIRE_… */
    int interface_kind;          /* the way must go through an interface of this uplink_kind; 0: any */
    const char *interface_name;  /* the way must go through the interface of this name; NULL: any */
    int64_t stable_milliseconds; /* the network must have been there for so long without a break, as seen; 0: no matter */
} uplink_requirement;

#define UPLINK_REQUIREMENT_INIT {sizeof(uplink_requirement), 0, UPLINK_KIND_ANY, NULL, 0}

/* The operation. It may do its work in here, or start it and return. In either case it has to call
 * uplink_operation_complete() once, here or later, from any thread. */
typedef void (*uplink_operation_cb)(uplink_context *context, uint64_t id, void *user);

typedef struct uplink_outcome {
    size_t size;
    int status;          /* UPLINK_OK: the operation ran and is complete. Otherwise why not */
    bool started;        /* whether the operation ever began; with false it never will */
    int result;          /* what uplink_operation_complete() was given; 0 unless the status is UPLINK_OK */
    const char *message; /* the status in words, with what was missing */
} uplink_outcome;

/* Is told what became of an operation, once; nothing of the call is used after it. */
typedef void (*uplink_outcome_cb)(
    uplink_context *context, uint64_t id, const uplink_outcome *outcome, void *user);

/*
 * Runs an operation if the network is there, or as soon as it comes within a time limit, and otherwise never.
 *
 * timeout_milliseconds: the limit on waiting; 0: only if the network is there now; UPLINK_INFINITE.
 * requirement: what the operation needs of the network; NULL: a way to the internet.
 * operation: runs at most once.
 * outcome: runs exactly once, after the operation is complete. Its status is UPLINK_OK, or without a start
 *   UPLINK_ENONETWORK, UPLINK_ECANCELED, UPLINK_EMONITOR or UPLINK_ESTOPPED; the last also when the context was
 *   destroyed while the operation ran, which `started` tells.
 * id: set to the call's id before the operation can begin; may be NULL.
 *
 * Those who wait begin in the order in which they came. Losing the network does not disturb an operation that runs.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_perform(
    uplink_context *context, int64_t timeout_milliseconds, const uplink_requirement *requirement,
    uplink_operation_cb operation, uplink_outcome_cb outcome, void *user, uint64_t *id);

/*
 * Says that an operation which has begun is complete.
 *
 * result: whatever number is of use in the outcome.
 *
 * Errors: UPLINK_ENOENT when no such operation runs: it never began, is complete already, or its context was destroyed;
 * UPLINK_EBADHANDLE.
 */
int uplink_operation_complete(uplink_context *context, uint64_t id, int result);

/*
 * Waits, and blocks the calling thread, until the network is there.
 *
 * timeout_milliseconds, requirement: as for uplink_perform().
 *
 * Returns UPLINK_OK when it is there, UPLINK_ENONETWORK when it did not come in time, UPLINK_EINVAL, UPLINK_EMONITOR,
 * UPLINK_ESTOPPED when the context is destroyed meanwhile, UPLINK_EBADHANDLE.
 */
int uplink_wait(uplink_context *context, int64_t timeout_milliseconds, const uplink_requirement *requirement);

/* ---- GET --------------------------------------------------------------------------------------------------------- */

/* The head of an answer. Good until the callback that got it returns. */
typedef struct uplink_response uplink_response;

/* The status, such as 200; no status is an error by itself. 0 for NULL. */
int uplink_response_status(const uplink_response *response);

/* The URL that answered, after all redirects. */
const char *uplink_response_url(const uplink_response *response);

/* What Content-Length announces, or -1. */
int64_t uplink_response_content_length(const uplink_response *response);

/* A header field by its name, in whatever case; several of one name are joined with ", ". NULL where there is none. */
const char *uplink_response_header(const uplink_response *response, const char *name);

/* How many header fields there are. */
size_t uplink_response_header_count(const uplink_response *response);

/* The name of one of them, or NULL. */
const char *uplink_response_header_name(const uplink_response *response, size_t field);

/* The value of one of them, or NULL. */
const char *uplink_response_header_value(const uplink_response *response, size_t field);

/* Timeouts are in milliseconds; 0: the default that stands here; UPLINK_INFINITE: none. */
typedef struct uplink_get_options {
    size_t size;                           /* sizeof(uplink_get_options) */
    bool waits_for_network;                /* wait for the network first, for up to `wait_milliseconds` */
    bool replace_existing;                 /* uplink_get_file(): the file may exist */
    bool https_only;                       /* refuse http, redirects to it included */
    int64_t wait_milliseconds;             /* 0: only if the network is there now; UPLINK_INFINITE */
    const uplink_requirement *requirement; /* what to wait for; NULL: a way to the internet */
    const char *const *headers;            /* "Name: value" each, then NULL; NULL: none */
    int64_t connect_milliseconds;          /* until the connection stands, TLS included; 10 s */
    int64_t first_byte_milliseconds;       /* from there until the answer's head; 60 s */
    int64_t stall_milliseconds;            /* without a byte of the body; 30 s */
    int64_t total_milliseconds;            /* for everything but the wait for the network; none */
} uplink_get_options;

#define UPLINK_GET_OPTIONS_INIT {sizeof(uplink_get_options), false, false, false, 0, NULL, NULL, 0, 0, 0, 0}

typedef struct uplink_get_result {
    size_t size;
    int status;                      /* UPLINK_OK: the whole body has arrived */
    const uplink_response *response; /* NULL when it ended before the head of the answer was there */
    const void *bytes;               /* uplink_get_collect(): the body; else NULL */
    size_t count;                    /* how many bytes that are */
    int64_t received;                /* bytes of the body that were handed on or written */
    const char *message;             /* the status in words, with what the system said */
} uplink_get_result;

/* Is told the end of a transfer, once; nothing of the call is used after it. */
typedef void (*uplink_get_cb)(
    uplink_context *context, uint64_t id, const uplink_get_result *result, void *user);

/* What a body callback returns. */
#define UPLINK_CONTINUE 0
#define UPLINK_PAUSE 1

/*
 * Is told a piece of the body, one after the other; first, once, the head alone with `count` 0 and `bytes` NULL.
 *
 * Returns UPLINK_CONTINUE; UPLINK_PAUSE, and no more comes until uplink_resume(); or a negative number, which ends the
 * transfer with it as the status. During a pause the server has to wait once the library's buffer is full. The total
 * timeout runs, and the stall timeout until the buffer is full; their end is told after uplink_resume().
 */
typedef int (*uplink_body_cb)(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user);

/*
 * Asks for a URL and hands on the body as it arrives.
 *
 * options: NULL for the defaults.
 * body: is told the pieces.
 * done: is told the end.
 * id: set to the call's id; may be NULL.
 *
 * The status at the end is UPLINK_OK, UPLINK_ENONETWORK when nothing was sent because the network did not come,
 * UPLINK_ECANCELED, UPLINK_ESTOPPED, UPLINK_EMONITOR, UPLINK_EAGAIN when too many transfers of the context wait already,
 * UPLINK_EINVAL when `body` returned a positive number it may not return, one of those from UPLINK_ETIMEDOUT on, or what
 * `body` returned.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EURL, UPLINK_EREQUEST, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_get(
    uplink_context *context, const char *url, const uplink_get_options *options, uplink_body_cb body,
    uplink_get_cb done, void *user, uint64_t *id);

/*
 * Lets a paused body go on. Also when it comes before the callback that pauses has returned.
 *
 * Errors: UPLINK_ENOENT when there is no such transfer, UPLINK_EBADHANDLE.
 */
int uplink_resume(uplink_context *context, uint64_t id);

/*
 * Asks for a URL and collects the body in memory, to be had at the end.
 *
 * limit: the most bytes to accept; a larger body ends the transfer with UPLINK_ETOOLARGE. SIZE_MAX: no limit.
 *
 * Otherwise as uplink_get().
 */
int uplink_get_collect(
    uplink_context *context, const char *url, const uplink_get_options *options, size_t limit, uplink_get_cb done,
    void *user, uint64_t *id);

/*
 * Asks for a URL and writes the body to a file, which stands under its name only when it is whole. The bytes go to a new
 * file beside it, which is renamed at the end and removed when anything fails. An answer whose status is not 200 is not
 * written and ends with UPLINK_OK all the same: look at the status and at `received`.
 *
 * path: the file; its directory must exist.
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
