/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs an operation if the network is there or comes within three seconds, and otherwise never. The operation hands its
 * work to a thread of the program's own, which reports when it is complete.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <uplink.h>

typedef struct job {
    uplink_context *context;
    uint64_t id;
} job;

static sem_t ended;

static void *work(void *argument) {
    job *mine = (job *)argument;
    puts("the operation runs");
    uplink_operation_complete(mine->context, mine->id, 42);
    free(mine);
    return NULL;
}

static void operation(uplink_context *context, uint64_t id, void *user) {
    pthread_t thread;
    job *mine = (job *)malloc(sizeof(*mine));
    (void)user;
    if (mine == NULL) {
        uplink_operation_complete(context, id, -1);
        return;
    }
    mine->context = context;
    mine->id = id;
    if (pthread_create(&thread, NULL, work, mine) == 0) {
        pthread_detach(thread);
    } else {
        free(mine);
        uplink_operation_complete(context, id, -1);
    }
}

static void outcome(uplink_context *context, uint64_t id, const uplink_outcome *told, void *user) {
    (void)context, (void)id;
    *(int *)user = told->status;
    if (told->status == UPLINK_OK)
        printf("complete, with the result %d\n", told->result);
    else
        printf("%s: %s\n", told->started ? "not complete" : "never started", told->message);
    sem_post(&ended);
}

int main(void) {
    uplink_context *context;
    int status, told = UPLINK_OK;
    sem_init(&ended, 0, 0);
    status = uplink_context_create(NULL, &context);
    if (status == UPLINK_OK) status = uplink_perform(context, 3000, NULL, operation, outcome, &told, NULL);
    if (status == UPLINK_OK)
        while (sem_wait(&ended) != 0) continue;
    else
        fprintf(stderr, "%s\n", uplink_strerror(status));
    uplink_context_destroy(context);
    return status == UPLINK_OK && told == UPLINK_OK ? 0 : 1;
}
