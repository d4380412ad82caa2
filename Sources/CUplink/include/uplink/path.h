/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: what the network is like, and its changes. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_PATH_H
#define UPLINK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the network is like at one moment. A path does not change, and many threads may use it at the same time. */
typedef struct uplink_path uplink_path;

/* Why there is no network, ordered by how near the network is. */
typedef enum uplink_reason {
    UPLINK_REASON_NONE = 0,            /* there is a network */
    UPLINK_REASON_NO_INTERFACE = 1,    /* no link is up */
    UPLINK_REASON_NO_ADDRESS = 2,      /* a link is up, but has no usable address yet */
    UPLINK_REASON_NO_ROUTE = 3,        /* there are addresses, but no route to the internet */
    UPLINK_REASON_BLOCKED = 4,         /* a route or a rule forbids the way */
    UPLINK_REASON_LINK_DOWN = 5,       /* there is a route, but the link it leads to is down */
    UPLINK_REASON_LINK_DORMANT = 6,    /* there is a route, but its link is waiting, for authentication for example */
    UPLINK_REASON_ADDRESS_PENDING = 7, /* an address is being checked for duplicates */
    UPLINK_REASON_UNKNOWN = 8          /* the system did not say, or a reason newer than this header */
} uplink_reason;

/* How far a packet can go. */
typedef enum uplink_scope {
    UPLINK_SCOPE_NONE = 0,  /* nowhere */
    UPLINK_SCOPE_HOST = 1,  /* only to this host */
    UPLINK_SCOPE_LINK = 2,  /* to neighbours on a link */
    UPLINK_SCOPE_SITE = 3,  /* to connected or routed networks, but not to the internet */
    UPLINK_SCOPE_GLOBAL = 4 /* to the internet */
} uplink_scope;

typedef enum uplink_family { UPLINK_IPV4 = 4, UPLINK_IPV6 = 6 } uplink_family;

/* What is known about a next hop (arp(7)). */
typedef enum uplink_gateway_state {
    UPLINK_GATEWAY_NONE = 0,      /* there is no next hop, or its state cannot be read */
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

/*
 * The path as it is now; release it with uplink_path_release().
 *
 * timeout_milliseconds: how long to wait if the kernel has not answered yet, which it does within milliseconds of the
 *   context's creation; 0: not at all; UPLINK_INFINITE.
 * path: set to the path, or to NULL on error.
 *
 * Errors: UPLINK_EINVAL, UPLINK_EAGAIN when the path is not known in that time, UPLINK_EMONITOR, UPLINK_ESTOPPED,
 * UPLINK_EBADHANDLE. Having no network is not an error.
 */
int uplink_current_path(uplink_context *context, int64_t timeout_milliseconds, uplink_path **path);

/* Called with a path and UPLINK_OK, and at the end of watching with NULL and an error: UPLINK_ECANCELED,
 * UPLINK_ESTOPPED, UPLINK_EMONITOR. A slow callback gets the newest path and misses those in between. */
typedef void (*uplink_watch_cb)(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user);

/*
 * Reports the path, then every change of it, until cancelled.
 *
 * id: set to the call's id; may be NULL.
 *
 * Errors: UPLINK_EINVAL, UPLINK_ESTOPPED, UPLINK_EBADHANDLE.
 */
int uplink_watch(uplink_context *context, uplink_watch_cb callback, void *user, uint64_t *id);

/* Keeps a path beyond the callback that got it, or for another owner. Each retain needs a release of its own. Returns
 * the path, or NULL for NULL. */
uplink_path *uplink_path_retain(const uplink_path *path);

/* Releases a path from uplink_path_retain() or uplink_current_path(); what its functions returned is gone with it. NULL
 * is allowed. */
void uplink_path_release(uplink_path *path);

/*
 * What a path says. These functions cannot fail: for NULL, an index that is too large or an unknown family they return
 * false, 0 or NULL. Texts last as long as the path.
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

/* Whether packets can be sent to at least one of the name servers. */
bool uplink_path_dns_is_reachable(const uplink_path *path);

/* A number that rises with every path that a context gives. */
uint64_t uplink_path_generation(const uplink_path *path);

/* A number that tells networks apart; 0 unless the path is satisfied. */
uint64_t uplink_path_network_id(const uplink_path *path);

/* One line for a person, such as "satisfied: eth0 (ethernet), IPv4 192.0.2.10 via 192.0.2.1". */
const char *uplink_path_description(const uplink_path *path);

/* Everything that is known, as one line of JSON: the object that `uplink watch --json` prints. */
const char *uplink_path_json(const uplink_path *path);

/* Whether a family (an uplink_family) can be used. */
bool uplink_path_family_is_available(const uplink_path *path, int family);

/* Why a family cannot be used: an uplink_reason. A new reason of one family alone is not reported: this is as old as
 * the path. */
int uplink_path_family_reason(const uplink_path *path, int family);

/* The name of the interface that a family's route leads to; NULL where there is none. */
const char *uplink_path_family_interface(const uplink_path *path, int family);

/* The next hop, as text; NULL where the route is on-link or there is none. */
const char *uplink_path_family_gateway(const uplink_path *path, int family);

/* The source address that the kernel chooses, as text; NULL where there is none. */
const char *uplink_path_family_source(const uplink_path *path, int family);

/* Whether a family's only source address is deprecated: legal, but not wanted for new connections (RFC 4862). */
bool uplink_path_family_is_degraded(const uplink_path *path, int family);

/* What the kernel's neighbour table says about the next hop: an uplink_gateway_state. A hint, as old as the path. */
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

/* How many of its addresses can be used as a source. */
size_t uplink_path_interface_address_count(const uplink_path *path, size_t interface);

/* One of these addresses, as text. */
const char *uplink_path_interface_address(const uplink_path *path, size_t interface, size_t address);

/* How many interfaces are not in use, but would carry a socket bound to them to the internet. */
size_t uplink_path_alternative_count(const uplink_path *path);

/* The name of one of them. */
const char *uplink_path_alternative_name(const uplink_path *path, size_t alternative);

/* How many name servers resolv.conf(5) names, three at most. Without any, the C library asks one on this host. */
size_t uplink_path_resolver_count(const uplink_path *path);

/* The address of one of them, as text; a link-local one with its zone (fe80::1%eth0). */
const char *uplink_path_resolver_address(const uplink_path *path, size_t resolver);

#ifdef __cplusplus
}
#endif

#endif
