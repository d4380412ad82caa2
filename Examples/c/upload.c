/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends a file, or with `-` the standard input, to a URL, and prints how much has gone out.
 *
 *     cc upload.c $(pkg-config --cflags --libs uplink) && ./a.out report.pdf https://example.org/reports/7
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <uplink.h>

static sem_t ended;
static int told = UPLINK_OK;

/* Gives the next piece of the body; it may block, as this does, or return UPLINK_EAGAIN until uplink_resume(). */
static int64_t read_input(
    uplink_context *context, uint64_t id, int64_t offset, void *bytes, size_t count, void *user) {
    size_t length = fread(bytes, 1, count, (FILE *)user);
    (void)context, (void)id, (void)offset;
    if (length == 0 && ferror((FILE *)user)) return UPLINK_EFILE;
    return (int64_t)length;
}

static void sent(uplink_context *context, uint64_t id, int64_t count, int64_t length, void *user) {
    (void)context, (void)id, (void)user;
    if (length == UPLINK_UNKNOWN_LENGTH)
        fprintf(stderr, "%" PRId64 " bytes\n", count);
    else
        fprintf(stderr, "%" PRId64 " of %" PRId64 " bytes\n", count, length);
}

/* Runs once. */
static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    (void)context, (void)id, (void)user;
    told = result->status;
    if (told == UPLINK_OK)
        printf("%d: %.*s\n", uplink_response_status(result->response), (int)result->count,
               result->count ? (const char *)result->bytes : "");
    else
        fprintf(stderr, "%s: %s\n", uplink_error_name(told), result->message);
    sem_post(&ended);
}

int main(int count, char **arguments) {
    uplink_context *context = NULL;
    uplink_request *request = NULL;
    uplink_request_options options = UPLINK_REQUEST_OPTIONS_INIT;
    int status;
    if (count < 3) {
        fprintf(stderr, "usage: %s FILE URL\n", arguments[0]);
        return 2;
    }
    options.waits_for_network = true;
    options.wait_milliseconds = 10000;
    options.attempts = 3; /* a PUT may be sent again; standard input is not, because it cannot be read again */
    options.sent = sent;

    sem_init(&ended, 0, 0);
    status = uplink_request_create("PUT", arguments[2], &request);
    if (status == UPLINK_OK) status = uplink_request_add_header(request, "Content-Type", "application/octet-stream");
    if (status == UPLINK_OK)
        status = strcmp(arguments[1], "-") == 0
                     ? uplink_request_set_body_source(request, UPLINK_UNKNOWN_LENGTH, false, read_input, stdin)
                     : uplink_request_set_body_file(request, arguments[1]);
    if (status == UPLINK_OK) status = uplink_context_create(NULL, &context);
    if (status == UPLINK_OK)
        status = uplink_request_collect(context, request, &options, 1 << 20, done, NULL, NULL);
    uplink_request_free(request); /* the call that is sending it goes on */
    if (status == UPLINK_OK)
        while (sem_wait(&ended) != 0) continue;
    else
        fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context);
    return status == UPLINK_OK && told == UPLINK_OK ? 0 : 1;
}
