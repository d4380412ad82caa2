/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for the network, for up to ten seconds, and then fetches a URL to standard output.
 *
 *     cc wait-then-fetch.c $(pkg-config --cflags --libs uplink) && ./a.out https://example.org/
 */
#define _POSIX_C_SOURCE 200809L
#include <semaphore.h>
#include <stdio.h>
#include <uplink.h>

static sem_t ended;
static int told = UPLINK_OK;

/* On the context's callback thread, once. */
static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    (void)context, (void)id, (void)user;
    told = result->status;
    if (told == UPLINK_OK)
        fwrite(result->bytes, 1, result->count, stdout);
    else
        fprintf(stderr, "%s: %s\n", uplink_error_name(told), result->message);
    sem_post(&ended);
}

int main(int count, char **arguments) {
    const char *url = count > 1 ? arguments[1] : "https://example.org/";
    uplink_context *context;
    uplink_get_options options = UPLINK_GET_OPTIONS_INIT;
    int status; /* not `told`: the callback may come before uplink_get_collect() has returned */
    options.waits_for_network = true;
    options.wait_milliseconds = 10000;

    sem_init(&ended, 0, 0);
    status = uplink_context_create(NULL, &context);
    if (status == UPLINK_OK) status = uplink_get_collect(context, url, &options, 1 << 20, done, NULL, NULL);
    if (status == UPLINK_OK)
        while (sem_wait(&ended) != 0) continue;
    else
        fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context);
    return status == UPLINK_OK && told == UPLINK_OK ? 0 : 1;
}
