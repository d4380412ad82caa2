/* SPDX-License-Identifier: Apache-2.0
 *
 * Downloads a file, across any number of outages within an hour, and prints its progress. If it is killed, the next run
 * goes on from there.
 *
 *     cc download.c $(pkg-config --cflags --libs uplink) && ./a.out https://example.org/disk.iso disk.iso [SHA-256]
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <uplink.h>

static sem_t ended;
static int told = UPLINK_OK;

/* Gets the state, then every change of it; while this runs, later ones wait, and only the newest is reported. */
static void progress(uplink_context *context, uint64_t id, const uplink_download_progress *now, void *user) {
    (void)context, (void)id, (void)user;
    switch (now->phase) {
    case UPLINK_DOWNLOAD_WAITING:
        fprintf(stderr, "waiting for the network: %s\n", now->trouble ? now->trouble : "it is away");
        break;
    case UPLINK_DOWNLOAD_RESUMING: fprintf(stderr, "going on at %" PRId64 " bytes\n", now->received); break;
    case UPLINK_DOWNLOAD_PAUSING: fprintf(stderr, "trying again: %s\n", now->trouble ? now->trouble : "?"); break;
    case UPLINK_DOWNLOAD_RECEIVING:
        fprintf(stderr, "%" PRId64 " of %" PRId64 " bytes, %" PRId64 " a second\n", now->received, now->total,
                now->bytes_per_second);
        break;
    default: break; /* also phases of a newer library */
    }
}

/* Runs once. */
static void done(uplink_context *context, uint64_t id, const uplink_download_result *result, void *user) {
    (void)context, (void)id, (void)user;
    told = result->status;
    if (told == UPLINK_OK)
        printf("%s: %" PRId64 " bytes, resumed %" PRIu32 " times\n", result->path, result->bytes, result->resumptions);
    else
        fprintf(stderr, "%s: %s\n", uplink_error_name(told), result->message);
    sem_post(&ended);
}

int main(int count, char **arguments) {
    uplink_context *context;
    uplink_download_options options = UPLINK_DOWNLOAD_OPTIONS_INIT;
    int status;
    if (count < 3) {
        fprintf(stderr, "usage: %s URL FILE [SHA-256]\n", arguments[0]);
        return 2;
    }
    options.replace_existing = true;
    options.progress = progress;
    if (count > 3) options.sha256 = arguments[3];

    sem_init(&ended, 0, 0);
    status = uplink_context_create(NULL, &context);
    if (status == UPLINK_OK)
        status = uplink_download(context, arguments[1], arguments[2], 3600 * 1000, &options, done, NULL, NULL);
    if (status == UPLINK_OK)
        while (sem_wait(&ended) != 0) continue;
    else
        fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context);
    return status == UPLINK_OK && told == UPLINK_OK ? 0 : 1;
}
