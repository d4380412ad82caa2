/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server on the loopback: a thread for each connection, an answer for each path. */
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

/* One request, whose head has been read; 0 ends the connection. */
static int server_answer(int connection, const char *path, const char *head) {
    static char big[65536];
    char text[256];
    if (strcmp(path, "/hello") == 0) {
        server_text(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\nX-One: 2\r\n\r\nhello");
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
    if (strcmp(path, "/silent") == 0) {
        char byte;
        while (recv(connection, &byte, 1, 0) > 0) continue;
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
        char path[1024] = "";
        sscanf(head, "GET %1023s", path);
        if (!server_answer(connection, path, head)) break;
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
