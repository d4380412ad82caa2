/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the network's path and every change of it, until a line comes on standard input; if that has ended, until a
 * signal. With `json` as its argument it prints everything that is known.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <unistd.h>
#include <uplink.h>

static void told(uplink_context *context, uint64_t id, int status, const uplink_path *path, void *user) {
    const bool *json = (const bool *)user;
    (void)context, (void)id;
    if (status != UPLINK_OK)
        fprintf(stderr, "watching ended: %s\n", uplink_strerror(status));
    else
        puts(*json ? uplink_path_json(path) : uplink_path_description(path));
    fflush(stdout);
}

int main(int count, char **arguments) {
    (void)arguments;
    uplink_context *context;
    bool json = count > 1;
    int status = uplink_context_create(NULL, &context);
    if (status == UPLINK_OK) status = uplink_watch(context, told, &json, NULL);
    if (status != UPLINK_OK)
        fprintf(stderr, "%s\n", uplink_strerror(status));
    else if (getchar() == EOF)
        pause();
    uplink_context_destroy(context); /* ends watching: the last callback has run when it returns */
    return status == UPLINK_OK ? 0 : 1;
}
