/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks on the program's own thread, with a descriptor to wait on; and paths as they change. */
#include <poll.h>

#include "check.h"

static pthread_t owner;
static int runs, paths, ends, logs;
static uplink_path *last;

static void here(void) { CHECK(pthread_equal(pthread_self(), owner)); }

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)user;
    here();
    runs++;
    CHECK_STATUS(uplink_dispatch(context), UPLINK_EDEADLK);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_EDEADLK);
    CHECK_STATUS(uplink_operation_complete(context, id, 1), UPLINK_OK);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id, (void)user;
    here();
    CHECK_STATUS(told->status, UPLINK_OK);
    ends++;
}

static void watched(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user) {
    (void)context, (void)id, (void)user;
    here();
    if (status != UPLINK_OK) {
        CHECK_STATUS(status, UPLINK_ECANCELED);
        CHECK(path == NULL);
        ends++;
        return;
    }
    uplink_path_release(last);
    last = uplink_path_retain(path);
    CHECK(last == path && uplink_path_is_authoritative(path) && uplink_path_generation(path) > 0);
    paths++;
    printf("%s\n%s\n", uplink_path_description(path), uplink_path_json(path));
    fflush(stdout);
}

static void logged(uplink_context *context, int level, const char *message, void *user) {
    (void)context, (void)user;
    here();
    CHECK(level <= UPLINK_LOG_DEBUG && message != NULL);
    logs++;
}

static void turn(uplink_context *context) {
    struct pollfd poll_for = {uplink_descriptor(context), POLLIN, 0};
    CHECK(poll(&poll_for, 1, 90000) == 1);
    CHECK(uplink_dispatch(context) >= 0);
}

int main(void) {
    uint64_t watch;
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    owner = pthread_self();
    options.dispatch = true;
    options.log = logged;
    options.log_level = UPLINK_LOG_DEBUG;
    network_enter();
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    CHECK(uplink_descriptor(context) >= 0);
    CHECK_STATUS(uplink_watch(context, watched, NULL, &watch), UPLINK_OK);
    pause_milliseconds(50);
    CHECK(paths == 0); /* nothing runs unasked */
    while (paths == 0) turn(context);
    CHECK(!uplink_path_is_satisfied(last) && uplink_path_reason(last) == UPLINK_REASON_NO_ROUTE);
    CHECK(uplink_path_scope(last) == UPLINK_SCOPE_SITE && uplink_path_interface_count(last) == 0);
    CHECK(uplink_path_network_id(last) == 0);
    CHECK(uplink_path_family_reason(last, UPLINK_IPV4) == UPLINK_REASON_NO_ROUTE);

    network_up();
    while (!uplink_path_is_satisfied(last)) turn(context);
    CHECK(uplink_path_reason(last) == UPLINK_REASON_NONE && uplink_path_scope(last) == UPLINK_SCOPE_GLOBAL);
    CHECK(uplink_path_family_is_available(last, UPLINK_IPV4) && !uplink_path_family_is_available(last, UPLINK_IPV6));
    CHECK(strcmp(uplink_path_family_interface(last, UPLINK_IPV4), "eth0") == 0);
    CHECK(strcmp(uplink_path_family_gateway(last, UPLINK_IPV4), "192.0.2.1") == 0);
    CHECK(strcmp(uplink_path_family_source(last, UPLINK_IPV4), "192.0.2.10") == 0);
    CHECK(uplink_path_family_gateway(last, UPLINK_IPV6) == NULL);
    CHECK(uplink_path_interface_count(last) == 1 && strcmp(uplink_path_interface_name(last, 0), "eth0") == 0);
    CHECK(uplink_path_interface_index(last, 0) > 0 && uplink_path_interface_mtu(last, 0) == 1500);
    CHECK(uplink_path_interface_kind(last, 0) == UPLINK_KIND_ETHERNET);
    CHECK(!uplink_path_interface_is_metered(last, 0) && !uplink_path_is_expensive(last));
    CHECK(!uplink_path_is_constrained(last));
    (void)uplink_path_dns_is_reachable(last);
    CHECK(strcmp(uplink_path_interface_address(last, 0, 0), "192.0.2.10") == 0);
    CHECK(uplink_path_interface_address(last, 0, uplink_path_interface_address_count(last, 0)) == NULL);
    CHECK(uplink_path_alternative_count(last) == 0 && !uplink_path_family_is_degraded(last, UPLINK_IPV4));
    int gateway = uplink_path_family_gateway_state(last, UPLINK_IPV4);
    CHECK(gateway >= UPLINK_GATEWAY_NONE && gateway <= UPLINK_GATEWAY_UNKNOWN);
    for (size_t i = 0; i < uplink_path_resolver_count(last); i++)
        CHECK(strlen(uplink_path_resolver_address(last, i)) > 0);
    CHECK(uplink_path_description(last) == uplink_path_description(last)); /* lasts as long as the path */

    CHECK_STATUS(uplink_perform(context, 0, NULL, operation, outcome, NULL, NULL), UPLINK_OK);
    while (ends < 1) turn(context);
    CHECK(runs == 1);

    network_down();
    while (uplink_path_is_satisfied(last)) turn(context);
    CHECK_STATUS(uplink_cancel(context, watch), UPLINK_OK);
    while (ends < 2) turn(context);
    CHECK_STATUS(uplink_cancel(context, watch), UPLINK_ENOENT);
    while (logs < 1 + 2 + 2) turn(context); /* a path at least, calls that began, calls that ended */

    uplink_path *path;
    CHECK_STATUS(uplink_current_path(context, 0, &path), UPLINK_OK);
    CHECK(strcmp(uplink_path_description(path), uplink_path_description(last)) == 0);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(uplink_path_json(path) != NULL); /* a path outlives its context */
    uplink_path_release(path);
    uplink_path_release(last);
    return 0;
}
