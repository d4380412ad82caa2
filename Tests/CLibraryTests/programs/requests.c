/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with bodies: from memory, from a file, from a callback that pauses, rewinds, fails and is cancelled. */
#include "server.h"

static uplink_context *context;

/* What one request was told. */
typedef struct transfer {
    latch ended;
    latch pieces; /* of the answer's body */
    int status, http_status;
    char text[64];
    int64_t sent, length;
    bool cancels_when_sent;
} transfer;

#define TRANSFER {LATCH, LATCH, 0, 0, "", -1, -1, false}

/* A body that a callback gives. */
typedef struct source {
    latch asked;
    int64_t size;         /* where it ends */
    size_t piece;         /* how much is given at once */
    int64_t fails_at;     /* there `verdict` is returned once */
    int64_t verdict;
    int rewinds;
    int64_t expected;     /* the next offset */
    bool resumes;         /* before it says that there is nothing yet */
    bool cancels;         /* itself, before it gives anything */
} source;

#define SOURCE(size, piece) {LATCH, size, piece, -1, 0, 0, 0, false, false}

static const char *expected(const char *method, int64_t count) {
    static char text[64];
    unsigned sum = 0;
    for (int64_t i = 0; i < count; i++) sum += (unsigned)(i + 1) * byte_at(i);
    snprintf(text, sizeof(text), "%s %ld %u", method, (long)count, sum);
    return text;
}

static int64_t give(uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    source *source = user;
    CHECK(count > 0 && bytes != NULL && id > 0);
    if (offset == 0 && source->expected > 0) source->rewinds++, source->expected = 0;
    CHECK(offset == source->expected);
    latch_add(&source->asked, 1);
    if (source->cancels) CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    if (offset == source->fails_at) {
        source->fails_at = -1;
        if (source->resumes) CHECK_STATUS(uplink_resume(context, id), UPLINK_OK);
        return source->verdict;
    }
    if (count > source->piece) count = source->piece;
    if ((int64_t)count > source->size - offset) count = (size_t)(source->size - offset);
    for (size_t i = 0; i < count; i++) ((unsigned char *)bytes)[i] = byte_at(offset + (int64_t)i);
    source->expected = offset + (int64_t)count;
    return (int64_t)count;
}

static void sent(uplink_context *context, uint64_t id, int64_t sent, int64_t length, void *user) {
    transfer *transfer = user;
    CHECK(sent > 0 && latch_count(&transfer->ended) == 0);
    transfer->sent = sent;
    transfer->length = length;
    if (transfer->cancels_when_sent) CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
}

static int body(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user) {
    transfer *transfer = user;
    (void)context, (void)id, (void)response;
    strncat(transfer->text, (const char *)(count ? bytes : ""), count);
    latch_add(&transfer->pieces, 1);
    return UPLINK_CONTINUE;
}

static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    transfer *transfer = user;
    (void)context, (void)id;
    transfer->status = result->status;
    transfer->http_status = uplink_response_status(result->response);
    if (result->count) snprintf(transfer->text, sizeof(transfer->text), "%.*s", (int)result->count, (const char *)result->bytes);
    latch_add(&transfer->ended, 1);
}

static uplink_request *request(const char *method, const char *path) {
    uplink_request *request;
    CHECK_STATUS(uplink_request_create(method, server_url(path), &request), UPLINK_OK);
    return request;
}

/* Sends a request, frees it while it is sent, and waits for its end. */
static transfer collect(uplink_request *request, const uplink_request_options *options) {
    transfer transfer = TRANSFER;
    CHECK_STATUS(uplink_request_collect(context, request, options, 1000, done, &transfer, NULL), UPLINK_OK);
    uplink_request_free(request);
    latch_await(&transfer.ended, 1);
    return transfer;
}

static transfer collect_source(
    const char *method, const char *path, int64_t length, bool can_rewind, source *source,
    const uplink_request_options *options) {
    uplink_request *made = request(method, path);
    CHECK_STATUS(uplink_request_set_body_source(made, length, can_rewind, give, source), UPLINK_OK);
    return collect(made, options);
}

static void from_memory(void) {
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = byte_at((int64_t)i);
    uplink_request *put = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_set_body(put, bytes, sizeof(bytes)), UPLINK_OK);
    CHECK_STATUS(uplink_request_add_header(put, "Content-Type", "application/octet-stream"), UPLINK_OK);
    transfer told = collect(put, NULL);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.http_status == 200 && strcmp(told.text, expected("PUT", 1000)) == 0);

    uplink_request *empty = request("POST", "/upload");
    CHECK_STATUS(uplink_request_set_body(empty, NULL, 0), UPLINK_OK);
    CHECK(strcmp(collect(empty, NULL).text, "POST 0 0") == 0);
    CHECK(strcmp(collect(request("DELETE", "/upload"), NULL).text, "DELETE 0 0") == 0);
    CHECK(strcmp(collect(request("PROPFIND", "/upload"), NULL).text, "PROPFIND 0 0") == 0);

    uplink_request *question = request("GET", "/echo");
    CHECK_STATUS(uplink_request_add_header(question, "X-Question", "why"), UPLINK_OK);
    CHECK_STATUS(uplink_request_add_header(question, "X-Name", "caf\xe9"), UPLINK_EINVAL); /* never sent as another */
    CHECK(strcmp(collect(question, NULL).text, "why") == 0);
    uplink_request *reserved = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_add_header(reserved, "Content-Length", "5"), UPLINK_OK);
    CHECK_STATUS(collect(reserved, NULL).status, UPLINK_EREQUEST);

    /* One request, sent twice at a time, and changed in between. */
    transfer first = TRANSFER, second = TRANSFER;
    uplink_request *twice = request("POST", "/upload");
    CHECK_STATUS(uplink_request_set_body(twice, bytes, 10), UPLINK_OK);
    CHECK_STATUS(uplink_request_send(context, twice, NULL, body, done, &first, NULL), UPLINK_OK);
    CHECK_STATUS(uplink_request_set_body(twice, bytes, 20), UPLINK_OK);
    CHECK_STATUS(uplink_request_send(context, twice, NULL, body, done, &second, NULL), UPLINK_OK);
    latch_await(&first.ended, 1);
    latch_await(&second.ended, 1);
    uplink_request_free(twice);
    CHECK(strcmp(first.text, expected("POST", 10)) == 0);
    CHECK(strcmp(second.text, expected("POST", 20)) == 0 && latch_count(&second.pieces) >= 2);
}

static void from_a_file(void) {
    char file[] = "/tmp/uplink-requests-XXXXXX";
    int descriptor = mkstemp(file);
    CHECK(descriptor >= 0);
    static unsigned char bytes[100000];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = byte_at((int64_t)i);
    CHECK(write(descriptor, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes));
    close(descriptor);
    uplink_request *post = request("POST", "/upload");
    CHECK_STATUS(uplink_request_set_body_file(post, file), UPLINK_OK);
    transfer told = collect(post, NULL);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(strcmp(told.text, expected("POST", 100000)) == 0);
    unlink(file);
    post = request("POST", "/upload");
    CHECK_STATUS(uplink_request_set_body_file(post, file), UPLINK_OK);
    CHECK_STATUS(collect(post, NULL).status, UPLINK_EFILE);
}

static void from_a_callback(void) {
    const int64_t size = 200000;
    source known = SOURCE(size, 50000), unknown = SOURCE(size, 1 << 20), empty = SOURCE(0, 1), small = SOURCE(100, 1);
    CHECK(strcmp(collect_source("PUT", "/upload", size, false, &known, NULL).text, expected("PUT", size)) == 0);
    CHECK(latch_count(&known.asked) >= 4); /* and not once more, because the end is known */
    transfer told = collect_source("POST", "/upload", UPLINK_UNKNOWN_LENGTH, false, &unknown, NULL);
    CHECK(strcmp(told.text, expected("POST", size)) == 0);
    CHECK(strcmp(collect_source("PUT", "/upload", 0, false, &empty, NULL).text, "PUT 0 0") == 0);
    CHECK(latch_count(&empty.asked) == 0);
    CHECK(strcmp(collect_source("PUT", "/upload", -1, false, &small, NULL).text, expected("PUT", 100)) == 0);
    CHECK(latch_count(&small.asked) == 101);

    source truncated = SOURCE(500, 100), greedy = SOURCE(1000, 100), refusing = SOURCE(1000, 100);
    CHECK_STATUS(collect_source("PUT", "/upload", 1000, false, &truncated, NULL).status, UPLINK_EBODY);
    greedy.fails_at = 300;
    greedy.verdict = INT64_MAX; /* more than there was room for */
    CHECK_STATUS(collect_source("PUT", "/upload", 1000, false, &greedy, NULL).status, UPLINK_EINVAL);
    refusing.fails_at = 300;
    refusing.verdict = -4711;
    CHECK(collect_source("PUT", "/upload", -1, false, &refusing, NULL).status == -4711);
}

/* Nothing yet: from another thread, and before the callback has said so, the body goes on. */
static void paused(void) {
    source source = SOURCE(1000, 100), resuming = SOURCE(1000, 100);
    transfer told = TRANSFER;
    uint64_t id;
    source.fails_at = 500;
    source.verdict = UPLINK_EAGAIN;
    uplink_request *put = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_set_body_source(put, 1000, false, give, &source), UPLINK_OK);
    CHECK_STATUS(uplink_request_collect(context, put, NULL, 1000, done, &told, &id), UPLINK_OK);
    latch_await(&source.asked, 6);
    pause_milliseconds(20);
    CHECK(latch_count(&source.asked) == 6 && latch_count(&told.ended) == 0); /* it stands still */
    /* A resume that comes while the callback still runs counts as well. */
    CHECK_STATUS(uplink_resume(context, id), UPLINK_OK);
    latch_await(&told.ended, 1);
    CHECK(strcmp(told.text, expected("PUT", 1000)) == 0 && latch_count(&source.asked) == 11);
    uplink_request_free(put);
    resuming.fails_at = 0;
    resuming.verdict = UPLINK_EAGAIN;
    resuming.resumes = true;
    CHECK(strcmp(collect_source("PUT", "/upload", 1000, false, &resuming, NULL).text, expected("PUT", 1000)) == 0);
}

/* Redirects and other attempts send the body again, where it can be had again and that does nothing twice. */
static void again(void) {
    uplink_request_options options = UPLINK_REQUEST_OPTIONS_INIT;
    source moved = SOURCE(1000, 100), gone = SOURCE(1000, 100), busy = SOURCE(1000, 100), stated = SOURCE(1000, 100);
    source unsafe = SOURCE(1000, 100);
    transfer told = collect_source("PUT", "/upload/moved", 1000, true, &moved, NULL);
    CHECK(strcmp(told.text, expected("PUT", 1000)) == 0 && moved.rewinds == 1);
    CHECK_STATUS(collect_source("PUT", "/upload/moved", 1000, false, &gone, NULL).status, UPLINK_EBODY);
    options.attempts = 2;
    server_attempts = 0;
    told = collect_source("PUT", "/upload/busy", 1000, true, &busy, &options);
    CHECK(told.http_status == 200 && busy.rewinds == 1 && server_attempts == 2);
    server_attempts = 0;
    CHECK(collect_source("POST", "/upload/busy", 1000, true, &unsafe, &options).http_status == 503);
    CHECK(server_attempts == 1);
    options.is_idempotent = true;
    server_attempts = 0;
    CHECK(collect_source("POST", "/upload/busy", -1, true, &stated, &options).http_status == 200);
    CHECK(stated.rewinds == 1);
}

static void progress(void) {
    uplink_request_options options = UPLINK_REQUEST_OPTIONS_INIT;
    source known = SOURCE(200000, 10000), unknown = SOURCE(1000, 10);
    options.sent = sent;
    transfer told = collect_source("PUT", "/upload", 200000, false, &known, &options);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.sent == 200000 && told.length == 200000);
    options.expects_continue = true; /* which this server does not know, so that a second passes */
    told = collect_source("PUT", "/upload", UPLINK_UNKNOWN_LENGTH, false, &unknown, &options);
    CHECK(told.sent == 1000 && told.length == UPLINK_UNKNOWN_LENGTH);
}

static int64_t flood(uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    (void)context, (void)id, (void)offset;
    memset(bytes, 'x', count);
    latch_add((latch *)user, (long)count);
    return (int64_t)count;
}

/* A server that does not read holds the callback up; one that answers early ends the transfer, though the callback has
 * more, or nothing yet. */
static void held_up(void) {
    source silent = SOURCE(1000, 100);
    latch given = LATCH;
    transfer told = TRANSFER;
    uint64_t id;
    uplink_request *put = request("PUT", "/full");
    CHECK_STATUS(uplink_request_set_body_source(put, INT64_C(1) << 40, false, flood, &given), UPLINK_OK);
    CHECK_STATUS(uplink_request_collect(context, put, NULL, 1000, done, &told, &id), UPLINK_OK);
    latch_await(&given, 1);
    pause_milliseconds(300);
    CHECK(latch_count(&told.ended) == 0);
    CHECK(latch_count(&given) < 64 << 20); /* of which the kernel's buffers are the most */
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    latch_await(&told.ended, 1);
    CHECK_STATUS(told.status, UPLINK_ECANCELED);
    server_release();
    uplink_request_free(put);
    silent.fails_at = 500;
    silent.verdict = UPLINK_EAGAIN; /* and nobody resumes it */
    CHECK(collect_source("PUT", "/refuse", -1, false, &silent, NULL).http_status == 413);
}

static void cancelled(void) {
    uplink_request_options options = UPLINK_REQUEST_OPTIONS_INIT;
    source waiting = SOURCE(1000, 100), cancelling = SOURCE(1000, 100), sending = SOURCE(1000, 100);
    transfer told = TRANSFER, sender = TRANSFER;
    uint64_t id;
    waiting.fails_at = 300;
    waiting.verdict = UPLINK_EAGAIN;
    uplink_request *put = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_set_body_source(put, 1000, false, give, &waiting), UPLINK_OK);
    CHECK_STATUS(uplink_request_collect(context, put, NULL, 1000, done, &told, &id), UPLINK_OK);
    uplink_request_free(put);
    latch_await(&waiting.asked, 4);
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    latch_await(&told.ended, 1);
    CHECK_STATUS(told.status, UPLINK_ECANCELED);
    CHECK_STATUS(uplink_resume(context, id), UPLINK_ENOENT);
    CHECK(latch_count(&waiting.asked) == 4);

    cancelling.cancels = true;
    CHECK_STATUS(collect_source("PUT", "/upload", 1000, false, &cancelling, NULL).status, UPLINK_ECANCELED);
    CHECK(latch_count(&cancelling.asked) == 1);

    options.sent = sent;
    sender.cancels_when_sent = true;
    sending.fails_at = 500;
    sending.verdict = UPLINK_EAGAIN; /* so that it cannot have ended before */
    put = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_set_body_source(put, 1000, false, give, &sending), UPLINK_OK);
    CHECK_STATUS(uplink_request_collect(context, put, &options, 1000, done, &sender, NULL), UPLINK_OK);
    uplink_request_free(put);
    latch_await(&sender.ended, 1);
    CHECK_STATUS(sender.status, UPLINK_ECANCELED);
}

static int64_t destroy(uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    (void)id, (void)offset, (void)bytes, (void)count;
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_EDEADLK);
    latch_add((latch *)user, 1);
    return UPLINK_EAGAIN;
}

/* A context ends while a body is awaited; on the program's own thread, if that is where callbacks run. */
static void destroyed(bool dispatch) {
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    latch asked = LATCH;
    transfer told = TRANSFER;
    options.dispatch = dispatch;
    CHECK_STATUS(uplink_context_create(&options, &context), UPLINK_OK);
    uplink_request *put = request("PUT", "/upload");
    CHECK_STATUS(uplink_request_set_body_source(put, 1000, false, destroy, &asked), UPLINK_OK);
    CHECK_STATUS(uplink_request_collect(context, put, NULL, 1000, done, &told, NULL), UPLINK_OK);
    uplink_request_free(put);
    if (!dispatch) latch_await(&asked, 1);
    while (latch_count(&asked) == 0) {
        CHECK(uplink_dispatch(context) >= 0);
        pause_milliseconds(1);
    }
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(latch_count(&told.ended) == 1 && latch_count(&asked) == 1);
    CHECK_STATUS(told.status, UPLINK_ESTOPPED);
}

int main(void) {
    network_enter();
    server_start();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    from_memory();
    from_a_file();
    from_a_callback();
    paused();
    again();
    progress();
    held_up();
    cancelled();
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    destroyed(false);
    destroyed(true);
    server_stop();
    settle();
    puts("requests: from memory, files and callbacks");
    return 0;
}
