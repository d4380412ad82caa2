// SPDX-License-Identifier: Apache-2.0
// HTTP in C over libuv and libcurl's multi socket interface, by the rules that Uplink keeps: what it is compared with.
#ifndef UPLINK_BENCHMARKS_PLAINHTTP_H
#define UPLINK_BENCHMARKS_PLAINHTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Where bodies go: nowhere, once counted; into memory of their own; or into a file, by libuv's thread pool.
typedef enum { plain_sink_count, plain_sink_memory, plain_sink_file } plain_sink;

typedef struct {
    const char *url;
    // The authorities that are believed, as a file; NULL for the system's.
    const char *authorities;
    // How many requests, and how many of them at once.
    size_t requests, concurrency;
    // Bytes of each answer's body; another number is a failure.
    size_t body;
    // libcurl's BUFFERSIZE.
    size_t buffer;
    plain_sink sink;
    // Where the file goes.
    const char *path;
} plain_http_job;

// A loop and a multi handle, with the connections of earlier jobs.
typedef struct plain_http plain_http;
plain_http *plain_http_open(size_t idle_connections);
// Runs a job on the caller's thread; how many requests brought what they were to bring.
size_t plain_http_run(plain_http *http, plain_http_job job);
// The same with the loop on a thread of its own, asked by the caller's, which waits for the answers.
size_t plain_http_run_asked(plain_http *http, plain_http_job job);
void plain_http_close(plain_http *http);

// Starts a program that is killed when the caller's process ends; its process id, or -1.
pid_t plain_start_server(const char *const *arguments, const char *output);
// Allows as many open descriptors as the system does.
void plain_raise_descriptor_limit(void);
const char *plain_libcurl_version(void);

#endif
