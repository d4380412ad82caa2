/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads: whole, broken off and resumed, refused, cancelled and gone on with, without a network. */
#include "server.h"

enum { whole = 100000, half = 50000 };
static const char digest[] = "6b4e3f3d1dee15db72c519f5962bad253dfc7d4183d7e30e656259ce1eeab007";

static uplink_context *context;
static char directory[] = "/tmp/uplink-downloads-XXXXXX", file[64];

/* What one download was told. */
typedef struct transfer {
    latch ended;
    latch news;
    latch halves; /* news of half the file */
    latch waits;  /* news that it waits for the network */
    uplink_download_progress last;
    uplink_download_result result;
    bool cancels; /* itself, as soon as it is told anything */
    bool destroys;
} transfer;

#define TRANSFER {LATCH, LATCH, LATCH, LATCH, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL}, \
                  {0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL}, false, false}

/* How many of the paths /own/cut/0, /own/cut/1 and so on give their second half by now. */
static latch gates = LATCH;

static void send_part(int connection, long from, long count) {
    static unsigned char bytes[whole];
    for (long i = 0; i < count; i++) bytes[i] = byte_at(from + i);
    server_send(connection, bytes, (size_t)count);
}

/* Until a path's gate is open; 0 when the client is gone before. */
static int wait_at_gate(int connection, long number) {
    char byte;
    while (latch_count(&gates) <= number) {
        if (recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return 0;
        pause_milliseconds(1);
    }
    return 1;
}

/* /own/file gives all of it or a part; /own/cut/N ends after a half, and gives the other one when its gate is open. */
static int answer(int connection, const char *path, const char *head) {
    const char *range = strstr(head, "Range: bytes=");
    long from = range ? atol(range + 13) : 0;
    bool cut = strncmp(path, "/own/cut/", 9) == 0;
    char text[256];
    if (cut && from && !wait_at_gate(connection, atol(path + 9))) return 0;
    snprintf(text, sizeof(text), "Content-Range: bytes %ld-%d/%d\r\n", from, whole - 1, whole);
    server_text(connection, from ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n");
    if (from) server_text(connection, text);
    snprintf(text, sizeof(text), "ETag: \"one\"\r\nAccept-Ranges: bytes\r\nContent-Length: %ld\r\n\r\n", whole - from);
    server_text(connection, text);
    if (!cut || from) send_part(connection, from, whole - from);
    else send_part(connection, 0, half);
    return !cut;
}

static void progress(uplink_context *context, uint64_t id, const uplink_download_progress *now, void *user) {
    transfer *transfer = user;
    CHECK(now->size == sizeof(*now) && latch_count(&transfer->ended) == 0);
    CHECK(now->phase >= UPLINK_DOWNLOAD_PREPARING && now->phase <= UPLINK_DOWNLOAD_FAILED);
    CHECK(now->received >= 0 && now->total >= -1 && now->bytes_per_second >= 0);
    CHECK(now->phase < UPLINK_DOWNLOAD_FINISHED || now->trouble == NULL);
    transfer->last = *now;
    transfer->last.trouble = NULL;
    latch_add(&transfer->news, 1);
    if (now->received == half) latch_add(&transfer->halves, 1);
    if (now->phase == UPLINK_DOWNLOAD_WAITING) latch_add(&transfer->waits, 1);
    if (transfer->cancels) CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    if (transfer->destroys) CHECK_STATUS(uplink_context_destroy(context), UPLINK_EDEADLK);
}

static void done(uplink_context *context, uint64_t id, const uplink_download_result *result, void *user) {
    transfer *transfer = user;
    (void)context, (void)id;
    CHECK(result->size == sizeof(*result) && result->message != NULL && strncmp(result->path, directory, 10) == 0);
    CHECK((result->status == UPLINK_OK) == (result->url != NULL));
    transfer->result = *result;
    latch_add(&transfer->ended, 1);
}

static uplink_download_options local(void) {
    uplink_download_options options = UPLINK_DOWNLOAD_OPTIONS_INIT;
    options.ignores_network = true;
    options.progress = progress;
    return options;
}

static uint64_t start(
    transfer *transfer, const char *path, const char *target, int64_t within, const uplink_download_options *options) {
    uint64_t id;
    CHECK_STATUS(uplink_download(context, server_url(path), target, within, options, done, transfer, &id), UPLINK_OK);
    return id;
}

static uplink_download_result download(const char *path, const uplink_download_options *options) {
    transfer transfer = TRANSFER;
    start(&transfer, path, file, 60000, options);
    latch_await(&transfer.ended, 1);
    return transfer.result;
}

/* Whether the file stands there, whole, and may be taken away. */
static bool take_file(void) {
    static unsigned char bytes[whole + 1];
    FILE *opened = fopen(file, "r");
    if (opened == NULL) return false;
    bool is_right = fread(bytes, 1, sizeof(bytes), opened) == whole;
    for (long i = 0; i < whole; i++) is_right = is_right && bytes[i] == byte_at(i);
    fclose(opened);
    return unlink(file) == 0 && is_right;
}

static void finished(void) {
    transfer transfer = TRANSFER;
    uplink_download_options options = local();
    options.sha256 = digest;
    options.expected_size = whole;
    start(&transfer, "/own/file", file, UPLINK_INFINITE, &options);
    latch_await(&transfer.ended, 1);
    CHECK_STATUS(transfer.result.status, UPLINK_OK);
    CHECK(transfer.result.bytes == whole && transfer.result.transferred == whole && transfer.result.attempts == 1);
    CHECK(transfer.result.resumptions == 0 && transfer.result.restarts == 0 && transfer.result.http_status == 200);
    CHECK(transfer.last.phase == UPLINK_DOWNLOAD_FINISHED && transfer.last.received == whole);
    CHECK(transfer.last.total == whole && transfer.last.remaining_milliseconds == -1);
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_EEXIST);
    CHECK(mode_of(file) == 0600 && chmod(file, 0644) == 0);
    options.replace_existing = true;
    options.progress = NULL;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_OK);
    CHECK(mode_of(file) == 0600); /* not that of the file before */
    CHECK(take_file());
}

/* The server ends the connection after a half; what follows waits until the test has seen it told. */
static void resumed(void) {
    transfer transfer = TRANSFER;
    uplink_download_options options = local();
    start(&transfer, "/own/cut/0", file, 60000, &options);
    latch_await(&transfer.halves, 1);
    latch_add(&gates, 1);
    latch_await(&transfer.ended, 1);
    CHECK_STATUS(transfer.result.status, UPLINK_OK);
    CHECK(transfer.result.resumptions == 1 && transfer.result.restarts == 0 && transfer.result.attempts == 2);
    CHECK(transfer.result.transferred == whole && transfer.result.http_status == 206);
    CHECK(transfer.last.resumptions == 1 && transfer.last.received == whole && latch_count(&transfer.news) >= 3);
    CHECK(take_file());
}

static void refused(void) {
    uplink_download_options options = local();
    uplink_download_result told = download("/missing", &options);
    CHECK_STATUS(told.status, UPLINK_ESTATUS);
    CHECK(told.http_status == 404 && told.bytes == 0);
    char wrong[sizeof(digest)];
    memcpy(wrong, digest, sizeof(digest));
    wrong[0] = digest[0] == '0' ? '1' : '0';
    options.sha256 = wrong;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_ECHECKSUM);
    options.sha256 = NULL;
    options.expected_size = 7;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_ESIZE);
    options.expected_size = 0;
    options.maximum_size = whole - 1;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_ETOOLARGE);
    options.maximum_size = 0;
    options.https_only = true;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_EURL);
    options.https_only = false;
    const char *part[] = {"Range: bytes=5-", NULL};
    options.headers = part;
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_EREQUEST);
    options.headers = NULL;
    transfer late = TRANSFER, misplaced = TRANSFER;
    start(&late, "/silent", file, 200, &options);
    latch_await(&late.ended, 1);
    CHECK_STATUS(late.result.status, UPLINK_ETIMEDOUT);
    char missing[96];
    snprintf(missing, sizeof(missing), "%s/no/file", directory);
    start(&misplaced, "/own/file", missing, 60000, &options);
    latch_await(&misplaced.ended, 1);
    CHECK_STATUS(misplaced.result.status, UPLINK_EFILE);
    CHECK(!take_file());
}

/* What a download that was cancelled has left goes into the next one; while it is there, no other may. */
static void cancelled(void) {
    transfer held = TRANSFER, itself = TRANSFER;
    uplink_download_options options = local();
    uint64_t id = start(&held, "/own/cut/1", file, 60000, &options);
    latch_await(&held.halves, 1);
    CHECK_STATUS(download("/own/file", &options).status, UPLINK_EINUSE);
    CHECK_STATUS(uplink_cancel(context, id), UPLINK_OK);
    latch_await(&held.ended, 1);
    CHECK_STATUS(held.result.status, UPLINK_ECANCELED);
    CHECK(!take_file());
    latch_add(&gates, 1);
    uplink_download_result told = download("/own/cut/1", &options);
    CHECK_STATUS(told.status, UPLINK_OK);
    CHECK(told.bytes == whole && told.transferred == half && told.resumptions == 1);
    CHECK(take_file());

    itself.cancels = true;
    start(&itself, "/silent", file, 60000, &options);
    latch_await(&itself.ended, 1);
    CHECK_STATUS(itself.result.status, UPLINK_ECANCELED);
    CHECK(latch_count(&itself.news) == 1);
}

/* It waits for the network, and begins when that is there. */
static void awaited(void) {
    transfer transfer = TRANSFER;
    uplink_download_options options = local();
    options.ignores_network = false;
    start(&transfer, "/own/file", file, 90000, &options);
    latch_await(&transfer.waits, 1);
    CHECK(latch_count(&transfer.ended) == 0);
    network_up();
    latch_await(&transfer.ended, 1);
    CHECK_STATUS(transfer.result.status, UPLINK_OK);
    CHECK(take_file());
}

/* A context ends while the server holds a download up; on the program's own thread, if that is where callbacks run. */
static void destroyed(bool dispatch) {
    transfer transfer = TRANSFER;
    uplink_context_options contexts = UPLINK_CONTEXT_OPTIONS_INIT;
    uplink_download_options options = local();
    options.starts_over = true;
    contexts.dispatch = dispatch;
    transfer.destroys = true;
    CHECK_STATUS(uplink_context_create(&contexts, &context), UPLINK_OK);
    start(&transfer, "/own/cut/2", file, UPLINK_INFINITE, &options);
    if (!dispatch) latch_await(&transfer.halves, 1);
    while (latch_count(&transfer.halves) == 0) {
        CHECK(uplink_dispatch(context) >= 0);
        pause_milliseconds(1);
    }
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    CHECK(latch_count(&transfer.ended) == 1);
    CHECK_STATUS(transfer.result.status, UPLINK_ESTOPPED);
}

int main(void) {
    network_enter();
    CHECK(mkdtemp(directory) != NULL);
    umask(022);
    snprintf(file, sizeof(file), "%s/file", directory);
    server_own = answer;
    server_start();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK); /* what the runtime and libuv open once */
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    int before = descriptors();
    CHECK_STATUS(uplink_context_create(NULL, &context), UPLINK_OK);
    finished();
    resumed();
    refused();
    cancelled();
    awaited();
    CHECK_STATUS(uplink_context_destroy(context), UPLINK_OK);
    destroyed(false);
    destroyed(true);
    /* Three are libdispatch's; a loop of the process has more. The server's threads take their time to close theirs. */
    for (int i = 0; descriptors() > before + 3; i++, pause_milliseconds(10)) CHECK(i < 6000);
    server_stop();
    settle();
    CHECK(rmdir(directory) == 0); /* nothing is left in there */
    puts("downloads: whole, resumed, refused, cancelled, awaited");
    return 0;
}
