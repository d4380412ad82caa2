/* SPDX-License-Identifier: Apache-2.0 */
/* GET in its three forms: streamed with pauses, collected up to a limit, to a file. */
#include "server.h"

typedef struct transfer {
    latch pieces;
    latch ended;
    size_t received;
    int pause_every; /* pause after so many pieces; 0: never */
    bool resume_in_callback;
    int verdict; /* what the body callback returns at the head; UPLINK_CONTINUE otherwise */
    int status;
    int http_status;
    char bytes[64];
    size_t count;
    int64_t told;
    char url[128];
    char field[64];
    bool has_response;
    char message[512];
} transfer;

#define TRANSFER {LATCH, LATCH, 0, 0, false, 0, 1, 0, "", 0, 0, "", "", false, ""}

static int body(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user) {
    transfer *transfer = user;
    CHECK(uplink_response_status(response) == 200);
    CHECK((bytes == NULL) == (count == 0));
    CHECK(transfer->received > 0 || count > 0 || latch_count(&transfer->pieces) == 0);
    transfer->received += count;
    latch_add(&transfer->pieces, 1);
    if (count == 0 && transfer->verdict) return transfer->verdict;
    if (transfer->pause_every == 0 || latch_count(&transfer->pieces) % transfer->pause_every) return UPLINK_CONTINUE;
    if (transfer->resume_in_callback) CHECK_STATUS(uplink_resume(context, id), UPLINK_OK);
    return UPLINK_PAUSE;
}

static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    transfer *transfer = user;
    (void)context, (void)id;
    CHECK(result->size == sizeof(*result) && result->message != NULL);
    transfer->status = result->status;
    snprintf(transfer->message, sizeof(transfer->message), "%s", result->message);
    transfer->has_response = result->response != NULL;
    transfer->http_status = uplink_response_status(result->response);
    if (result->response) {
        CHECK(strcmp(uplink_response_header_name(result->response, 0), "Content-Length") == 0);
        CHECK(atol(uplink_response_header_value(result->response, 0)) == uplink_response_content_length(result->response));
        CHECK(uplink_response_header_name(result->response, uplink_response_header_count(result->response)) == NULL);
        snprintf(transfer->url, sizeof(transfer->url), "%s", uplink_response_url(result->response));
        const char *field = uplink_response_header(result->response, "x-one");
        snprintf(transfer->field, sizeof(transfer->field), "%s", field ? field : "none");
        CHECK(uplink_response_header(result->response, "not a name") == NULL);
    }
    transfer->count = result->count;
    transfer->told = result->received;
    if (result->count <= sizeof(transfer->bytes) && result->count) memcpy(transfer->bytes, result->bytes, result->count);
    latch_add(&transfer->ended, 1);
}

static uplink_context *context;

static transfer collect(const char *path, const uplink_get_options *options, size_t limit) {
    transfer transfer = TRANSFER;
    CHECK_STATUS(uplink_get_collect(context, server_url(path), options, limit, done, &transfer, NULL), UPLINK_OK);
    latch_await(&transfer.ended, 1);
    return transfer;
}

static void collected(void) {
    uplink_get_options options = UPLINK_GET_OPTIONS_INIT;
    transfer told = collect("/hello", NULL, 5);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.count == 5 && told.told == 5 && memcmp(told.bytes, "hello", 5) == 0 && told.http_status == 200);
    CHECK(strcmp(told.field, "1, caf\xe9") == 0 && strcmp(told.url, server_url("/hello")) == 0);
    told = collect("/hello", NULL, 4);
    CHECK_STATUS(told.status, UPLINK_ETOOLARGE);
    CHECK(told.count == 0 && told.has_response && strstr(told.message, "raise `limit`")); /* as C has it */
    told = collect("/hello", NULL, SIZE_MAX);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.count == 5);
    told = collect("/missing", NULL, 100);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.http_status == 404 && told.count == 4);
    told = collect("/redirect", NULL, 100);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(strcmp(told.url, server_url("/hello")) == 0);
    CHECK_STATUS(collect("/short", NULL, 100).status, UPLINK_ETRUNCATED);
    CHECK_STATUS(collect("/garbage", NULL, 100).status, UPLINK_EPROTOCOL);

    const char *headers[] = {"X-Question: forty-two", NULL};
    options.headers = headers;
    told = collect("/echo", &options, 100);
    CHECK(told.count == 9 && memcmp(told.bytes, "forty-two", 9) == 0);
    options.headers = NULL;
    options.first_byte_milliseconds = 100;
    CHECK_STATUS(collect("/silent", &options, 100).status, UPLINK_ETIMEDOUT);
    options.first_byte_milliseconds = UPLINK_INFINITE;
    options.total_milliseconds = 100;
    CHECK_STATUS(collect("/silent", &options, 100).status, UPLINK_ETIMEDOUT);
    options.total_milliseconds = 0;
    options.https_only = true;
    CHECK(collect("/hello", &options, 100).status < 0);
    options.https_only = false;

    /* Nothing is sent while the network is not there. */
    options.waits_for_network = true;
    options.wait_milliseconds = 50;
    told = collect("/hello", &options, 100);
    CHECK_STATUS(told.status, UPLINK_ENONETWORK);
    CHECK(!told.has_response);
    transfer late = TRANSFER;
    options.wait_milliseconds = UPLINK_INFINITE;
    CHECK_STATUS(uplink_get_collect(context, server_url("/hello"), &options, 5, done, &late, NULL), UPLINK_OK);
    pause_milliseconds(20);
    CHECK(latch_count(&late.ended) == 0);
    network_up();
    latch_await(&late.ended, 1);
    CHECK_STATUS(late.status, UPLINK_OK);

    /* Nobody listens there. */
    transfer refused = TRANSFER;
    CHECK_STATUS(uplink_get_collect(context, "http://127.0.0.1:1/", NULL, 1, done, &refused, NULL), UPLINK_OK);
    latch_await(&refused.ended, 1);
    CHECK_STATUS(refused.status, UPLINK_ECONNECT);
}

static void streamed(void) {
    uint64_t id;
    enum { size = 5000000 };
    transfer whole = TRANSFER, paused = TRANSFER, resumed = TRANSFER, refused = TRANSFER, wrong = TRANSFER;
    CHECK_STATUS(uplink_get(context, server_url("/big/5000000"), NULL, body, done, &whole, &id), UPLINK_OK);
    latch_await(&whole.ended, 1);
    CHECK_STATUS(whole.status, UPLINK_OK);
    CHECK(whole.received == size && whole.told == size && whole.count == 0);
    CHECK_STATUS(uplink_resume(context, id), UPLINK_ENOENT);

    paused.pause_every = 3;
    CHECK_STATUS(uplink_get(context, server_url("/big/5000000"), NULL, body, done, &paused, &id), UPLINK_OK);
    latch_await(&paused.pieces, 3);
    pause_milliseconds(100);
    CHECK(latch_count(&paused.pieces) == 3); /* it stands still */
    for (; latch_count(&paused.ended) == 0; pause_milliseconds(1)) {
        int status = uplink_resume(context, id);
        CHECK(status == UPLINK_OK || status == UPLINK_ENOENT);
    }
    CHECK_STATUS(paused.status, UPLINK_OK);
    CHECK(paused.received == size);

    resumed.pause_every = 1;
    resumed.resume_in_callback = true;
    CHECK_STATUS(uplink_get(context, server_url("/big/5000000"), NULL, body, done, &resumed, NULL), UPLINK_OK);
    latch_await(&resumed.ended, 1);
    CHECK_STATUS(resumed.status, UPLINK_OK);
    CHECK(resumed.received == size);

    refused.verdict = -4711;
    CHECK_STATUS(uplink_get(context, server_url("/hello"), NULL, body, done, &refused, NULL), UPLINK_OK);
    latch_await(&refused.ended, 1);
    CHECK(refused.status == -4711 && refused.received == 0);
    CHECK(strcmp(refused.message, "the program's callback ended it, with -4711") == 0);
    wrong.verdict = 99;
    CHECK_STATUS(uplink_get(context, server_url("/hello"), NULL, body, done, &wrong, NULL), UPLINK_OK);
    latch_await(&wrong.ended, 1);
    CHECK_STATUS(wrong.status, UPLINK_EINVAL);
}

static void cancelled(void) {
    uint64_t id;
    transfer paused = TRANSFER, silent = TRANSFER;
    paused.pause_every = 2;
    CHECK_STATUS(uplink_get(context, server_url("/big/5000000"), NULL, body, done, &paused, &id), UPLINK_OK);
    latch_await(&paused.pieces, 2);
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    latch_await(&paused.ended, 1);
    CHECK_STATUS(paused.status, UPLINK_ECANCELED);
    CHECK(latch_count(&paused.pieces) == 2);
    CHECK_STATUS(uplink_get_collect(context, server_url("/silent"), NULL, 5, done, &silent, &id), UPLINK_OK);
    CHECK_STATUS(uplink_resume(context, id), UPLINK_ENOENT); /* nothing that could be paused */
    pause_milliseconds(20);
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    latch_await(&silent.ended, 1);
    CHECK_STATUS(silent.status, UPLINK_ECANCELED);
}

static transfer to_file(const char *path, const char *file, bool replace) {
    transfer transfer = TRANSFER;
    uplink_get_options options = UPLINK_GET_OPTIONS_INIT;
    options.replace_existing = replace;
    CHECK_STATUS(uplink_get_file(context, server_url(path), &options, file, done, &transfer, NULL), UPLINK_OK);
    latch_await(&transfer.ended, 1);
    return transfer;
}

static long size_of(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

static void written(void) {
    char directory[] = "/tmp/uplink-gets-XXXXXX", file[64], missing[64], other[64], target[64];
    CHECK(mkdtemp(directory) != NULL);
    umask(022);
    snprintf(file, sizeof(file), "%s/file", directory);
    snprintf(missing, sizeof(missing), "%s/no/file", directory);
    snprintf(other, sizeof(other), "%s/other", directory);
    CHECK_STATUS(to_file("/short", file, false).status, UPLINK_ETRUNCATED);
    CHECK(size_of(file) == -1);
    transfer told = to_file("/missing", file, false);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.http_status == 404 && told.told == 0 && size_of(file) == -1);
    told = to_file("/big/1000000", file, false);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.told == 1000000 && size_of(file) == 1000000 && mode_of(file) == 0600);
    CHECK_STATUS(to_file("/hello", file, false).status, UPLINK_EEXIST);
    CHECK(size_of(file) == 1000000);
    CHECK(chmod(file, 0644) == 0);
    CHECK_STATUS(to_file("/hello", file, true).status, UPLINK_OK);
    CHECK(size_of(file) == 5 && mode_of(file) == 0600); /* not that of the file before */
    CHECK_STATUS(to_file("/hello", missing, false).status, UPLINK_EFILE);

    /* What is no regular file is refused before anything is fetched, and stays. */
    for (int replace = 0; replace < 2; replace++) {
        CHECK(symlink(file, other) == 0);
        told = to_file("/hello", other, replace);
        CHECK_STATUS(told.status, UPLINK_EFILE);
        CHECK(!told.has_response && readlink(other, target, sizeof(target)) == (ssize_t)strlen(file) && size_of(file) == 5);
        CHECK(unlink(other) == 0 && mkfifo(other, 0600) == 0);
        CHECK_STATUS(to_file("/hello", other, replace).status, UPLINK_EFILE);
        CHECK(unlink(other) == 0);
    }

    /* The working directory may be another one as soon as the call has returned. */
    transfer relative = TRANSFER;
    CHECK(chdir(directory) == 0);
    CHECK_STATUS(uplink_get_file(context, server_url("/hello"), NULL, "other", done, &relative, NULL), UPLINK_OK);
    CHECK(mkdir("elsewhere", 0700) == 0 && chdir("elsewhere") == 0);
    latch_await(&relative.ended, 1);
    CHECK_STATUS(relative.status, UPLINK_OK);
    CHECK(size_of(other) == 5 && unlink(other) == 0);
    CHECK(chdir("..") == 0 && rmdir("elsewhere") == 0 && chdir("/") == 0);
    CHECK(unlink(file) == 0 && rmdir(directory) == 0); /* and nothing else is in there */
}

static latch warnings = LATCH;

static void logged(uplink_context *context, int level, const char *message, void *user) {
    (void)context;
    CHECK(user == &warnings && level >= UPLINK_LOG_ERROR && level <= UPLINK_LOG_WARNING && strlen(message) > 0);
    latch_add(&warnings, 1);
}

int main(void) {
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    options.log = logged;
    options.log_user = &warnings;
    network_enter();
    server_start();
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    collected();
    streamed();
    cancelled();
    written();
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(latch_count(&warnings) >= 10);
    server_stop();
    puts("gets: streamed, collected, to files");
    return 0;
}
