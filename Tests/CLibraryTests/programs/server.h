/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on the loopback: a thread for each connection, an answer for each path. Paths that begin with /upload
 * have their requests' bodies read first. */
#ifndef SERVER_H
#define SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "check.h"

static void server_send(int connection, const void *bytes, size_t count) {
    const char *next = (const char *)bytes;
    while (count > 0) {
        ssize_t sent = send(connection, next, count, MSG_NOSIGNAL);
        if (sent <= 0) return;
        next += sent;
        count -= (size_t)sent;
    }
}

static void server_text(int connection, const char *text) { server_send(connection, text, strlen(text)); }

/* Holds up connections that want to be held up, until server_release(). */
static latch server_released = LATCH;
static inline void server_wait(void) { latch_await(&server_released, 1); }
static inline void server_release(void) { latch_add(&server_released, 1); }

/* What a request's body came to. */
typedef struct server_body {
    long count;
    unsigned sum; /* each byte times its place, which counts from 1 */
    int whole;
} server_body;

static int server_read(int connection, long count, server_body *body) {
    unsigned char bytes[16384];
    while (count > 0) {
        ssize_t got = recv(connection, bytes, count < (long)sizeof(bytes) ? (size_t)count : sizeof(bytes), 0);
        if (got <= 0) return 0;
        count -= (long)got;
        for (ssize_t i = 0; i < got; i++) body->sum += (unsigned)++body->count * bytes[i];
    }
    return 1;
}

static int server_line(int connection, char *line, size_t size) {
    size_t length = 0;
    while (length < size - 1 && recv(connection, line + length, 1, 0) == 1)
        if (line[length++] == '\n') {
            line[length] = 0;
            return 1;
        }
    return 0;
}

/* Reads a body of known length, or in chunks (RFC 9112, section 7.1). */
static server_body server_read_body(int connection, const char *head) {
    server_body body = {0, 0, 0};
    const char *length = strstr(head, "Content-Length: ");
    char line[64];
    if (length) body.whole = server_read(connection, atol(length + 16), &body);
    else if (!strstr(head, "Transfer-Encoding: chunked")) body.whole = 1;
    else
        while (server_line(connection, line, sizeof(line))) {
            long count = strtol(line, NULL, 16);
            if (!server_read(connection, count, &body) || !server_line(connection, line, sizeof(line))) break;
            if (count == 0) body.whole = 1;
            if (count == 0) break;
        }
    return body;
}

/* How many requests with bodies there have been. */
static long server_attempts;

/* Answers of a program's own, for paths that begin with /own; 0 ends the connection. */
static int (*server_own)(int connection, const char *path, const char *head);

/* A body of bytes that tell their places. */
static inline unsigned char byte_at(int64_t place) { return (unsigned char)(place * 7 + place / 251); }

/* An answer to a request whose body is read first: what it came to, or whatever the path asks for. */
static int server_take(int connection, const char *path, const char *method, const char *head) {
    char text[256], answer[128];
    server_body body = server_read_body(connection, head);
    long attempt = __sync_add_and_fetch(&server_attempts, 1);
    if (!body.whole) return 0;
    if (strcmp(path, "/upload/busy") == 0 && attempt == 1) {
        server_text(connection, "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
        return 1;
    }
    if (strcmp(path, "/upload/moved") == 0) {
        server_text(connection, "HTTP/1.1 307 Moved\r\nLocation: /upload\r\nContent-Length: 0\r\n\r\n");
        return 1;
    }
    snprintf(answer, sizeof(answer), "%s %ld %u", method, body.count, body.sum);
    snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(answer), answer);
    server_text(connection, text);
    return 1;
}

/* One request, whose head has been read; 0 ends the connection. */
static int server_answer(int connection, const char *path, const char *head) {
    static char big[65536];
    char text[256];
    if (strcmp(path, "/hello") == 0) {
        server_text(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\nX-One: caf\xe9\r\n\r\nhello");
        return 1;
    }
    if (strncmp(path, "/big/", 5) == 0) {
        size_t count = (size_t)atol(path + 5);
        snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", count);
        server_text(connection, text);
        for (size_t sent = 0; sent < count; sent += sizeof(big))
            server_send(connection, big, count - sent < sizeof(big) ? count - sent : sizeof(big));
        return 1;
    }
    if (strcmp(path, "/missing") == 0) {
        server_text(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
        return 1;
    }
    if (strcmp(path, "/redirect") == 0) {
        server_text(connection, "HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 0\r\n\r\n");
        return 1;
    }
    if (strcmp(path, "/echo") == 0) {
        const char *field = strstr(head, "X-Question: ");
        int length = field ? (int)strcspn(field + 12, "\r") : 0;
        snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s", length, length,
                 field ? field + 12 : "");
        server_text(connection, text);
        return 1;
    }
    if (strcmp(path, "/short") == 0) {
        server_text(connection, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive.");
        return 0;
    }
    if (strcmp(path, "/silent") == 0 || strcmp(path, "/refuse") == 0) {
        char byte;
        if (path[1] == 'r') server_text(connection, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
        while (recv(connection, &byte, 1, 0) > 0) continue;
        return 0;
    }
    if (strcmp(path, "/full") == 0) {
        server_wait(); /* and reads nothing, so that the client has to wait */
        return 0;
    }
    server_text(connection, "garbage\r\n\r\n");
    return 0;
}

static void *server_connection(void *argument) {
    int connection = (int)(intptr_t)argument;
    char head[8192];
    size_t length = 0;
    while (length < sizeof(head) - 1 && recv(connection, head + length, 1, 0) == 1) {
        head[++length] = 0;
        if (length < 4 || memcmp(head + length - 4, "\r\n\r\n", 4) != 0) continue;
        char method[16] = "", path[1024] = "";
        sscanf(head, "%15s %1023s", method, path);
        int goes_on = strncmp(path, "/upload", 7) == 0 ? server_take(connection, path, method, head)
                      : strncmp(path, "/own", 4) == 0  ? server_own(connection, path, head)
                                                       : server_answer(connection, path, head);
        if (!goes_on) break;
        length = 0;
    }
    close(connection);
    return NULL;
}

static void *server_accept(void *argument) {
    int listener = (int)(intptr_t)argument;
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return NULL;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, server_connection, (void *)(intptr_t)connection) == 0);
        pthread_detach(thread);
    }
}

static int server_port;
static int server_listener;
static pthread_t server_thread;

static inline void server_start(void) {
    struct sockaddr_in name;
    socklen_t size = sizeof(name);
    memset(&name, 0, sizeof(name));
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server_listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(server_listener >= 0);
    CHECK(bind(server_listener, (struct sockaddr *)&name, size) == 0);
    CHECK(listen(server_listener, 128) == 0);
    CHECK(getsockname(server_listener, (struct sockaddr *)&name, &size) == 0);
    server_port = ntohs(name.sin_port);
    CHECK(pthread_create(&server_thread, NULL, server_accept, (void *)(intptr_t)server_listener) == 0);
}

static inline void server_stop(void) {
    shutdown(server_listener, SHUT_RDWR);
    pthread_join(server_thread, NULL);
    close(server_listener);
}

/* The URL of a path; good until the next call. */
static inline const char *server_url(const char *path) {
    static char url[1200];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server_port, path);
    return url;
}

#endif
