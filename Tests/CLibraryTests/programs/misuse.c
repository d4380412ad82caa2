/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is wrong with what a function is given, it returns an error; nothing crashes. */
#include "misuse_http.h"

#include <sys/wait.h>

static void operation(uplink_context *context, uint64_t id, void *user) {
    (void)user;
    latch_add(&callbacks, 1);
    uplink_operation_complete(context, id, 0);
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id, (void)told, (void)user;
    latch_add(&callbacks, 1);
}

static void watched(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user) {
    (void)context, (void)id, (void)status, (void)path, (void)user;
    latch_add(&callbacks, 1);
}

/* Every function on a context that is not there: NULL, destroyed, or never one. */
static void without_context(uplink_context *context, int error) {
    uint64_t id = 77;
    uplink_path *path = (uplink_path *)&id;
    CHECK_STATUS(uplink_descriptor(context), error);
    CHECK_STATUS(uplink_dispatch(context), error);
    CHECK_STATUS(uplink_cancel(context, 1), error);
    CHECK_STATUS(uplink_is_cancelled(context, 1), error);
    CHECK_STATUS(uplink_current_path(context, 0, &path), error);
    CHECK(path == NULL);
    CHECK_STATUS(uplink_watch(context, watched, NULL, &id), error);
    CHECK(id == 0);
    CHECK_STATUS(uplink_perform(context, 0, NULL, operation, outcome, NULL, &id), error);
    CHECK_STATUS(uplink_operation_complete(context, 1, 0), error);
    CHECK_STATUS(uplink_wait(context, 0, NULL), error);
    http_without_context(context, error);
}

static void no_path(void) {
    CHECK(uplink_path_retain(NULL) == NULL);
    uplink_path_release(NULL);
    CHECK(!uplink_path_is_satisfied(NULL) && uplink_path_reason(NULL) == 0 && uplink_path_scope(NULL) == 0);
    CHECK(!uplink_path_is_expensive(NULL) && !uplink_path_is_constrained(NULL));
    CHECK(!uplink_path_is_authoritative(NULL) && !uplink_path_dns_is_reachable(NULL));
    CHECK(uplink_path_generation(NULL) == 0 && uplink_path_network_id(NULL) == 0);
    CHECK(uplink_path_description(NULL) == NULL && uplink_path_json(NULL) == NULL);
    CHECK(!uplink_path_family_is_available(NULL, UPLINK_IPV4) && uplink_path_family_reason(NULL, UPLINK_IPV4) == 0);
    CHECK(uplink_path_family_interface(NULL, UPLINK_IPV4) == NULL);
    CHECK(uplink_path_family_gateway(NULL, UPLINK_IPV4) == NULL);
    CHECK(uplink_path_family_source(NULL, UPLINK_IPV4) == NULL);
    CHECK(uplink_path_interface_count(NULL) == 0 && uplink_path_interface_name(NULL, 0) == NULL);
    CHECK(uplink_path_interface_index(NULL, 0) == 0 && uplink_path_interface_kind(NULL, 0) == 0);
    CHECK(uplink_path_interface_mtu(NULL, 0) == 0 && !uplink_path_interface_is_metered(NULL, 0));
    CHECK(uplink_path_interface_address_count(NULL, 0) == 0 && uplink_path_interface_address(NULL, 0, 0) == NULL);
    CHECK(!uplink_path_family_is_degraded(NULL, UPLINK_IPV4) && uplink_path_family_gateway_state(NULL, 6) == 0);
    CHECK(uplink_path_alternative_count(NULL) == 0 && uplink_path_alternative_name(NULL, 0) == NULL);
    CHECK(uplink_path_resolver_count(NULL) == 0 && uplink_path_resolver_address(NULL, 0) == NULL);
    CHECK(uplink_response_status(NULL) == 0 && uplink_response_url(NULL) == NULL);
    CHECK(uplink_response_content_length(NULL) == -1 && uplink_response_header(NULL, "Date") == NULL);
    CHECK(uplink_response_header_count(NULL) == 0 && uplink_response_header_name(NULL, 0) == NULL);
    CHECK(uplink_response_header_value(NULL, 0) == NULL);
}

static void wrong_path_arguments(uplink_context *context) {
    uplink_path *path;
    CHECK_STATUS(uplink_current_path(context, UPLINK_INFINITE, &path), UPLINK_OK);
    CHECK(!uplink_path_family_is_available(path, 5) && uplink_path_family_source(path, -1) == NULL);
    CHECK(uplink_path_interface_name(path, SIZE_MAX) == NULL);
    CHECK(uplink_path_interface_address(path, 0, SIZE_MAX) == NULL);
    CHECK(uplink_path_alternative_name(path, SIZE_MAX) == NULL && uplink_path_resolver_address(path, SIZE_MAX) == NULL);
    CHECK(uplink_path_interface_address_count(path, SIZE_MAX / 2 + 1) == 0);
    uplink_path_release(path);
    CHECK_STATUS(uplink_current_path(context, -2, &path), UPLINK_EINVAL);
    CHECK_STATUS(uplink_current_path(context, INT64_MIN, &path), UPLINK_EINVAL);
    CHECK_STATUS(uplink_current_path(context, 0, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_watch(context, NULL, NULL, NULL), UPLINK_EINVAL);
}

static void refuse_requirement(uplink_context *context, const uplink_requirement *requirement) {
    CHECK_STATUS(uplink_wait(context, 0, requirement), UPLINK_EINVAL);
    CHECK_STATUS(uplink_perform(context, 0, requirement, operation, outcome, NULL, NULL), UPLINK_EINVAL);
    uplink_get_options options = UPLINK_GET_OPTIONS_INIT;
    options.requirement = requirement;
    CHECK_STATUS(uplink_get_collect(context, "http://127.0.0.1/", &options, 1, done, NULL, NULL), UPLINK_EINVAL);
}

static void wrong_requirements(uplink_context *context) {
    uplink_requirement requirement = UPLINK_REQUIREMENT_INIT;
    requirement.flags = UINT32_C(0x80000000);
    refuse_requirement(context, &requirement);
    requirement.flags = 0;
    requirement.interface_kind = 99;
    refuse_requirement(context, &requirement);
    requirement.interface_kind = -1;
    refuse_requirement(context, &requirement);
    requirement.interface_kind = 0;
    requirement.stable_milliseconds = -1;
    refuse_requirement(context, &requirement);
    requirement.stable_milliseconds = 0;
    requirement.interface_name = "";
    refuse_requirement(context, &requirement);
    requirement.interface_name = "sixteen-letters-";
    refuse_requirement(context, &requirement);
    requirement.interface_name = "eth0:1";
    refuse_requirement(context, &requirement);
    requirement.interface_name = NULL;
    requirement.size = 31; /* as in the other structures: one less than in version 1.0 */
    refuse_requirement(context, &requirement);
    requirement.size = 0;
    refuse_requirement(context, &requirement);
    requirement.size = SIZE_MAX;
    refuse_requirement(context, &requirement);

    /* Of a newer header: refused only if it says something there. */
    struct {
        uplink_requirement known;
        uint64_t newer;
    } larger;
    memset(&larger, 0, sizeof(larger));
    larger.known.size = sizeof(larger);
    larger.known.interface_name = "none0";
    CHECK_STATUS(uplink_wait(context, 0, &larger.known), UPLINK_ENONETWORK);
    larger.newer = 1;
    refuse_requirement(context, &larger.known);
}

static void wrong_performs(uplink_context *context) {
    CHECK_STATUS(uplink_perform(context, 0, NULL, NULL, outcome, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_perform(context, 0, NULL, operation, NULL, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_perform(context, -2, NULL, operation, outcome, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_perform(context, INT64_MIN, NULL, operation, outcome, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_wait(context, -2, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_cancel(context, 0), UPLINK_ENOENT);
    CHECK_STATUS(uplink_cancel(context, UINT64_MAX), UPLINK_ENOENT);
    CHECK_STATUS(uplink_is_cancelled(context, UINT64_MAX), UPLINK_ENOENT);
    CHECK_STATUS(uplink_operation_complete(context, UINT64_MAX, 0), UPLINK_ENOENT);
    CHECK_STATUS(uplink_resume(context, UINT64_MAX), UPLINK_ENOENT);
}

static void refuse_options(const uplink_context_options *options, int error) {
    uplink_context *context = (uplink_context *)options;
    CHECK_STATUS(uplink_context_create(options, &context), error);
    CHECK(context == NULL);
}

static void wrong_contexts(void) {
    CHECK_STATUS(uplink_context_create(NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_context_destroy(NULL), UPLINK_OK);
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    options.size = 0;
    refuse_options(&options, UPLINK_EINVAL);
    options.size = 55;
    refuse_options(&options, UPLINK_EINVAL);
    options.size = sizeof(options);
    options.reserved = 1;
    refuse_options(&options, UPLINK_EINVAL);
    options.reserved = 0;
    options.log_level = 9;
    refuse_options(&options, UPLINK_EINVAL);
    options.log_level = 0;
    options.ca_file = "/does/not/exist";
    refuse_options(&options, UPLINK_EINVAL);
    options.ca_file = "/tmp"; /* no file */
    refuse_options(&options, UPLINK_EINVAL);
    options.ca_file = "";
    refuse_options(&options, UPLINK_EINVAL);
    options.ca_file = NULL;
    options.network_namespace = "no-such-namespace";
    refuse_options(&options, UPLINK_ENAMESPACE);
    options.network_namespace = "/etc/passwd";
    refuse_options(&options, UPLINK_ENAMESPACE);
}

#define CHECK_NAME(name, number, text)                                    \
    CHECK(strcmp(uplink_error_name(number), "UPLINK_" #name) == 0);       \
    CHECK(strcmp(uplink_strerror(UPLINK_##name), text) == 0);             \
    CHECK(number < 0);

static void errors(void) {
    UPLINK_ERROR_MAP(CHECK_NAME)
    CHECK(strcmp(uplink_error_name(0), "UPLINK_OK") == 0 && strcmp(uplink_strerror(0), "no error") == 0);
    CHECK(strcmp(uplink_error_name(12345), "UPLINK_UNKNOWN") == 0 && uplink_strerror(-12345) != NULL);
    CHECK(uplink_version() == UPLINK_VERSION_HEX && UPLINK_AT_LEAST_VERSION(1, 0, 0));
    CHECK(strcmp(uplink_version_string(), UPLINK_VERSION_STRING) == 0);
}

/* A child has the contexts' memory and none of their threads. */
static void in_a_child(uplink_context *context) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        uplink_context *other;
        without_context(context, UPLINK_EBADHANDLE);
        CHECK_STATUS(uplink_context_create(NULL, &other), UPLINK_ESYSTEM);
        execl("/bin/true", "true", (char *)NULL);
        _exit(2);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    uplink_context *context;
    errors();
    no_path();
    wrong_contexts();
    without_context(NULL, UPLINK_EINVAL);
    without_context((uplink_context *)&callbacks, UPLINK_EBADHANDLE);
    CHECK_STATUS(uplink_context_destroy((uplink_context *)&callbacks), UPLINK_EBADHANDLE);

    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    CHECK_STATUS(uplink_descriptor(context), UPLINK_EINVAL);
    CHECK_STATUS(uplink_dispatch(context), UPLINK_EINVAL);
    wrong_path_arguments(context);
    wrong_requirements(context);
    wrong_performs(context);
    wrong_gets(context);
    no_request(context);
    wrong_requests(context);
    wrong_downloads(context);
    in_a_child(context);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_EBADHANDLE);
    without_context(context, UPLINK_EBADHANDLE);
    CHECK(latch_count(&callbacks) == 0);
    puts("misuse: every error as it should be");
    return 0;
}
