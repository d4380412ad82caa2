/* SPDX-License-Identifier: Apache-2.0 */
/* The part of misuse.c that concerns HTTP. */
#include "check.h"

/* None is to be called. */
static latch callbacks = LATCH;

static int body(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user) {
    (void)context, (void)id, (void)response, (void)bytes, (void)count, (void)user;
    latch_add(&callbacks, 1);
    return UPLINK_CONTINUE;
}

static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    (void)context, (void)id, (void)result, (void)user;
    latch_add(&callbacks, 1);
}

static void downloaded(uplink_context *context, uint64_t id, const uplink_download_result *result, void *user) {
    (void)context, (void)id, (void)result, (void)user;
    latch_add(&callbacks, 1);
}

/* As without_context() in misuse.c. */
static void http_without_context(uplink_context *context, int error) {
    uint64_t id = 77;
    CHECK_STATUS(uplink_get(context, "http://127.0.0.1/", NULL, body, done, NULL, &id), error);
    CHECK_STATUS(uplink_get_collect(context, "http://127.0.0.1/", NULL, 1, done, NULL, &id), error);
    CHECK_STATUS(uplink_get_file(context, "http://127.0.0.1/", NULL, "/tmp/x", done, NULL, &id), error);
    CHECK_STATUS(uplink_resume(context, 1), error);
    uplink_request *request;
    CHECK_STATUS(uplink_request_create("GET", "http://127.0.0.1/", &request), UPLINK_OK);
    CHECK_STATUS(uplink_request_send(context, request, NULL, body, done, NULL, &id), error);
    CHECK_STATUS(uplink_request_collect(context, request, NULL, 1, done, NULL, &id), error);
    uplink_request_free(request);
    CHECK_STATUS(uplink_download(context, "http://127.0.0.1/", "/tmp/x", 0, NULL, downloaded, NULL, &id), error);
    CHECK(id == 0);
}

static void refuse_get(uplink_context *context, const char *url, const uplink_get_options *options, int error) {
    uint64_t id = 77;
    CHECK_STATUS(uplink_get(context, url, options, body, done, NULL, &id), error);
    CHECK(id == 0);
    CHECK_STATUS(uplink_get_collect(context, url, options, 1, done, NULL, &id), error);
    CHECK_STATUS(uplink_get_file(context, url, options, "/tmp/x", done, NULL, &id), error);
}

static void wrong_gets(uplink_context *context) {
    const char *url = "http://127.0.0.1/";
    CHECK_STATUS(uplink_get(context, url, NULL, NULL, done, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_get(context, url, NULL, body, NULL, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_get_collect(context, url, NULL, 1, NULL, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_get_file(context, url, NULL, NULL, done, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_get_file(context, url, NULL, "", done, NULL, NULL), UPLINK_EINVAL);
    refuse_get(context, NULL, NULL, UPLINK_EINVAL);
    refuse_get(context, "", NULL, UPLINK_EINVAL);
    refuse_get(context, "ftp://127.0.0.1/", NULL, UPLINK_EURL);
    refuse_get(context, "http://", NULL, UPLINK_EURL);
    refuse_get(context, "\xff\xfe", NULL, UPLINK_EURL);

    size_t length = 1 << 20;
    char *huge = (char *)malloc(length + 1);
    CHECK(huge != NULL);
    memset(huge, 'x', length);
    memcpy(huge, "http://h/", 9);
    huge[length] = 0;
    refuse_get(context, huge, NULL, UPLINK_EINVAL);
    CHECK_STATUS(uplink_get_file(context, url, NULL, huge, done, NULL, NULL), UPLINK_EINVAL);

    uplink_get_options options = UPLINK_GET_OPTIONS_INIT;
    const char *headers[] = {"no colon", NULL};
    options.headers = headers;
    refuse_get(context, url, &options, UPLINK_EREQUEST);
    headers[0] = "X-Split: a\r\nX-Other: b";
    refuse_get(context, url, &options, UPLINK_EREQUEST);
    headers[0] = "Bad Name: x";
    refuse_get(context, url, &options, UPLINK_EREQUEST);
    headers[0] = huge;
    refuse_get(context, url, &options, UPLINK_EINVAL);
    options.headers = NULL;
    int64_t *times[] = {
        &options.wait_milliseconds, &options.connect_milliseconds, &options.first_byte_milliseconds,
        &options.stall_milliseconds, &options.total_milliseconds};
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        *times[i] = -2;
        refuse_get(context, url, &options, UPLINK_EINVAL);
        *times[i] = 0;
    }
    options.size = 71;
    refuse_get(context, url, &options, UPLINK_EINVAL);
    free(huge);
}

static void refuse_method(const char *method, const char *url, int error) {
    uplink_request *request = (uplink_request *)&callbacks;
    CHECK_STATUS(uplink_request_create(method, url, &request), error);
    CHECK(request == NULL);
}

static int64_t give(uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    (void)context, (void)id, (void)offset, (void)bytes, (void)count, (void)user;
    latch_add(&callbacks, 1);
    return 0;
}

static void no_request(uplink_context *context) {
    uplink_request_free(NULL);
    CHECK_STATUS(uplink_request_add_header(NULL, "A", "b"), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body(NULL, "a", 1), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_file(NULL, "/tmp/x"), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_source(NULL, 1, false, give, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_send(context, NULL, NULL, body, done, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_collect(context, NULL, NULL, 1, done, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_create("GET", "http://127.0.0.1/", NULL), UPLINK_EINVAL);
    refuse_method(NULL, "http://127.0.0.1/", UPLINK_EINVAL);
    refuse_method("GET", NULL, UPLINK_EINVAL);
    refuse_method("", "http://127.0.0.1/", UPLINK_EINVAL);
    refuse_method("GET /", "http://127.0.0.1/", UPLINK_EREQUEST);
    refuse_method("CONNECT", "http://127.0.0.1/", UPLINK_EREQUEST);
    refuse_method("GET", "ftp://127.0.0.1/", UPLINK_EURL);
    refuse_method("GET", "http://", UPLINK_EURL);
}

static void wrong_requests(uplink_context *context) {
    uplink_request *request;
    uplink_request_options options = UPLINK_REQUEST_OPTIONS_INIT;
    CHECK_STATUS(uplink_request_create("POST", "http://127.0.0.1/", &request), UPLINK_OK);
    CHECK_STATUS(uplink_request_add_header(request, NULL, "b"), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_add_header(request, "A", NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_add_header(request, "", "b"), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_add_header(request, "Bad Name", "b"), UPLINK_EREQUEST);
    CHECK_STATUS(uplink_request_add_header(request, "X-Split", "a\r\nX-Other: b"), UPLINK_EREQUEST);
    CHECK_STATUS(uplink_request_add_header(request, "X-Empty", ""), UPLINK_OK);
    for (int i = 1; i < 256; i++) CHECK_STATUS(uplink_request_add_header(request, "A", "b"), UPLINK_OK);
    CHECK_STATUS(uplink_request_add_header(request, "A", "b"), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body(request, NULL, 1), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body(request, "a", SIZE_MAX), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_file(request, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_file(request, ""), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_source(request, 1, false, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_set_body_source(request, -2, false, give, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_send(context, request, NULL, NULL, done, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_send(context, request, NULL, body, NULL, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_request_collect(context, request, NULL, 1, NULL, NULL, NULL), UPLINK_EINVAL);
    int64_t *times[] = {
        &options.wait_milliseconds, &options.connect_milliseconds, &options.first_byte_milliseconds,
        &options.stall_milliseconds, &options.total_milliseconds};
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        *times[i] = -2;
        CHECK_STATUS(uplink_request_collect(context, request, &options, 1, done, NULL, NULL), UPLINK_EINVAL);
        *times[i] = 0;
    }
    options.size = 71; /* one less than in version 1.1 */
    CHECK_STATUS(uplink_request_send(context, request, &options, body, done, NULL, NULL), UPLINK_EINVAL);
    uplink_request_free(request);
}

static void refuse_download(uplink_context *context, const uplink_download_options *options, int error) {
    uint64_t id = 77;
    CHECK_STATUS(
        uplink_download(context, "http://127.0.0.1/", "/tmp/x", 1000, options, downloaded, NULL, &id), error);
    CHECK(id == 0);
}

static void wrong_downloads(uplink_context *context) {
    const char *url = "http://127.0.0.1/", *path = "/tmp/x";
    uplink_download_options options = UPLINK_DOWNLOAD_OPTIONS_INIT;
    CHECK_STATUS(uplink_download(context, NULL, path, 0, NULL, downloaded, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_download(context, url, NULL, 0, NULL, downloaded, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_download(context, url, "", 0, NULL, downloaded, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_download(context, url, path, -2, NULL, downloaded, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_download(context, url, path, 0, NULL, NULL, NULL, NULL), UPLINK_EINVAL);
    CHECK_STATUS(uplink_download(context, "ftp://h/", path, 0, NULL, downloaded, NULL, NULL), UPLINK_EURL);
    int64_t *numbers[] = {
        &options.expected_size, &options.maximum_size, &options.connect_milliseconds,
        &options.first_byte_milliseconds, &options.stall_milliseconds};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        *numbers[i] = -2;
        refuse_download(context, &options, UPLINK_EINVAL);
        *numbers[i] = 0;
    }
    const char *digests[] = {"", "abc", "zz3d4f2a9c1b0e5d6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e", "00\xff"};
    for (size_t i = 0; i < sizeof(digests) / sizeof(*digests); i++) {
        options.sha256 = digests[i];
        refuse_download(context, &options, UPLINK_EINVAL);
    }
    options.sha256 = NULL;
    const char *headers[] = {"no colon", NULL};
    options.headers = headers;
    refuse_download(context, &options, UPLINK_EREQUEST);
    options.headers = NULL;
    uplink_requirement requirement = UPLINK_REQUIREMENT_INIT;
    requirement.flags = UINT32_C(0x80000000);
    options.requirement = &requirement;
    refuse_download(context, &options, UPLINK_EINVAL);
    options.requirement = NULL;
    options.size = 95; /* one less than in version 1.1 */
    refuse_download(context, &options, UPLINK_EINVAL);
}
