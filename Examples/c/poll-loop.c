/* SPDX-License-Identifier: Apache-2.0
 *
 * With poll(2): streams a URL to standard output, and pauses it after every mebibyte for as long as the program has
 * something better to do. Everything happens on the program's only thread.
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <uplink.h>

typedef struct fetch {
    uint64_t id;
    size_t since_pause;
    bool paused;
    bool ended;
    int status;
} fetch;

static int body(
    uplink_context *context, uint64_t id, const uplink_response *response, const void *bytes, size_t count,
    void *user) {
    fetch *mine = (fetch *)user;
    (void)context, (void)id;
    if (count == 0) {
        fprintf(stderr, "%d from %s\n", uplink_response_status(response), uplink_response_url(response));
        return UPLINK_CONTINUE;
    }
    if (fwrite(bytes, 1, count, stdout) != count) return UPLINK_ECANCELED;
    mine->since_pause += count;
    if (mine->since_pause < 1 << 20) return UPLINK_CONTINUE;
    mine->since_pause = 0;
    mine->paused = true;
    return UPLINK_PAUSE;
}

static void done(uplink_context *context, uint64_t id, const uplink_get_result *result, void *user) {
    fetch *mine = (fetch *)user;
    (void)context, (void)id;
    mine->ended = true;
    mine->status = result->status;
    if (result->status != UPLINK_OK) fprintf(stderr, "%s\n", result->message);
}

int main(int count, char **arguments) {
    const char *url = count > 1 ? arguments[1] : "https://example.org/";
    uplink_context *context;
    uplink_context_options options = UPLINK_CONTEXT_OPTIONS_INIT;
    fetch mine = {0, 0, false, false, UPLINK_OK};
    int status;
    options.dispatch = true;
    status = uplink_context_create(&options, &context);
    if (status == UPLINK_OK) status = uplink_get(context, url, NULL, body, done, &mine, &mine.id);
    while (status == UPLINK_OK && !mine.ended) {
        struct pollfd ready = {uplink_descriptor(context), POLLIN, 0};
        int found = poll(&ready, 1, mine.paused ? 1 : -1); /* what is better to do, in this example, is nothing */
        if (found > 0) uplink_dispatch(context);
        if (found == 0 && mine.paused) {
            mine.paused = false;
            uplink_resume(context, mine.id);
        }
    }
    if (status != UPLINK_OK) fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context);
    return status == UPLINK_OK && mine.status == UPLINK_OK ? 0 : 1;
}
