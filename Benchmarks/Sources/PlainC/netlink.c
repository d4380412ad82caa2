// SPDX-License-Identifier: Apache-2.0
// What a program in C does with rtnetlink, without a library: writers of routes, and readers of the kernel's messages.
#define _GNU_SOURCE
#include "plainc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_RCVBUFFORCE
#define SO_RCVBUFFORCE 33
#endif

uint64_t plain_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// A socket belongs to the namespace of the thread that made it, so a thread goes there for it.
struct order {
    const char *namespace;
    int socket;
};

static void *open_there(void *argument) {
    struct order *order = argument;
    order->socket = -1;
    int namespace = open(order->namespace, O_RDONLY | O_CLOEXEC);
    if (namespace < 0) return NULL;
    if (setns(namespace, CLONE_NEWNET) == 0) order->socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    close(namespace);
    return NULL;
}

int plain_netlink(const char *namespace) {
    struct order order = {namespace, -1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, open_there, &order) != 0) return -1;
    pthread_join(thread, NULL);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    if (order.socket >= 0) bind(order.socket, (struct sockaddr *)&address, sizeof address);
    return order.socket;
}

int plain_listener(const char *namespace, int buffer) {
    static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                                 RTNLGRP_IPV6_ROUTE};
    int listener = plain_netlink(namespace);
    if (listener < 0) return -1;
    setsockopt(listener, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        setsockopt(listener, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof groups[i]);
    fcntl(listener, F_SETFL, O_NONBLOCK);
    return listener;
}

struct request {
    struct nlmsghdr header;
    struct rtmsg route;
    struct rtattr attribute1;
    uint32_t value1;
    struct rtattr attribute2;
    uint32_t value2;
};

static struct request route_request(int add, unsigned flags, uint32_t destination, unsigned char length) {
    return (struct request){
        {sizeof(struct request), add ? RTM_NEWROUTE : RTM_DELROUTE,
         NLM_F_REQUEST | flags | (add ? NLM_F_CREATE | NLM_F_EXCL : 0), 1, 0},
        {AF_INET, length, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, RT_SCOPE_UNIVERSE, RTN_UNICAST, 0},
        {8, RTA_GATEWAY}, htonl(0xC0000201), {8, RTA_DST}, htonl(destination)};
}

uint64_t plain_default_route(int socket, int add) {
    struct request request = route_request(add, NLM_F_ACK, 0, 0);
    char answer[1024];
    uint64_t start = plain_now();
    if (send(socket, &request, sizeof request, 0) < 0) return 0;
    ssize_t count = recv(socket, answer, sizeof answer, 0);
    const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
    if (count < (ssize_t)sizeof *header || header->nlmsg_type != NLMSG_ERROR) return 0;
    return ((const struct nlmsgerr *)NLMSG_DATA(header))->error == 0 ? start : 0;
}

enum { at_once = 64 };

static int send_routes(int socket, const struct request *requests, size_t count) {
    return send(socket, requests, count * sizeof *requests, 0) < 0 ? -1 : 0;
}

size_t plain_routes(int socket, size_t count, int add) {
    struct request requests[at_once];
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        requests[filled++] = route_request(add, 0, 0x0A000000u + (uint32_t)i, 32);
        if (filled < at_once && i + 1 < count) continue;
        if (send_routes(socket, requests, filled) != 0) return i;
        filled = 0;
    }
    return count;
}

size_t plain_route_churn(int socket, size_t events) {
    struct request requests[at_once];
    for (size_t i = 0; i < events; i += at_once) {
        for (size_t j = 0; j < at_once; j++)
            requests[j] = route_request(j % 2 == 0, 0, 0x0B000000u + (uint32_t)((i + j) / 2 % 1000), 32);
        if (send_routes(socket, requests, at_once) != 0) return i;
    }
    return events;
}

static uint64_t wait_for_default(int listener, int added) {
    static _Thread_local char buffer[65536];
    struct pollfd waiting = {listener, POLLIN, 0};
    for (;;) {
        ssize_t count = recv(listener, buffer, sizeof buffer, 0);
        if (count < 0) {
            if (errno != EAGAIN && errno != ENOBUFS) return 0;
            if (errno == EAGAIN && poll(&waiting, 1, 5000) <= 0) return 0;
            continue;
        }
        int left = (int)count;
        for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left)) {
            const struct rtmsg *route = NLMSG_DATA(header);
            if (header->nlmsg_type == (added ? RTM_NEWROUTE : RTM_DELROUTE) && route->rtm_family == AF_INET &&
                route->rtm_dst_len == 0)
                return plain_now();
        }
    }
}

struct plain_changes {
    int listener;
    pthread_t thread;
    size_t count;
    uint64_t times[];
};

static void *note_changes(void *argument) {
    struct plain_changes *changes = argument;
    for (size_t i = 0; i < changes->count; i++) changes->times[i] = wait_for_default(changes->listener, i % 2);
    return NULL;
}

plain_changes *plain_changes_start(int listener, size_t count) {
    struct plain_changes *changes = calloc(1, sizeof *changes + count * sizeof(uint64_t));
    changes->listener = listener;
    changes->count = count;
    if (pthread_create(&changes->thread, NULL, note_changes, changes) != 0) return NULL;
    return changes;
}

const uint64_t *plain_changes_join(plain_changes *changes) {
    pthread_join(changes->thread, NULL);
    return changes->times;
}

// A reader on a thread of its own.
struct plain_reader {
    int listener;
    pthread_t thread;
    atomic_int id;
    atomic_size_t messages;
    atomic_size_t overruns;
    atomic_int is_done;
};

static void *read_all(void *argument) {
    struct plain_reader *reader = argument;
    static _Thread_local char buffer[65536];
    reader->id = (int)syscall(SYS_gettid);
    struct pollfd waiting = {reader->listener, POLLIN, 0};
    while (!reader->is_done) {
        ssize_t count = recv(reader->listener, buffer, sizeof buffer, 0);
        if (count < 0 && errno == ENOBUFS) reader->overruns++;
        if (count < 0 && errno == EAGAIN) poll(&waiting, 1, -1);
        if (count < 0) continue;
        int left = (int)count;
        for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left))
            reader->messages++;
    }
    return NULL;
}

plain_reader *plain_reader_start(int listener) {
    struct plain_reader *reader = calloc(1, sizeof *reader);
    reader->listener = listener;
    if (pthread_create(&reader->thread, NULL, read_all, reader) != 0) return NULL;
    while (reader->id == 0) usleep(100);
    return reader;
}

int plain_reader_thread(plain_reader *reader) { return reader->id; }
size_t plain_reader_messages(plain_reader *reader) { return reader->messages; }
size_t plain_reader_overruns(plain_reader *reader) { return reader->overruns; }

// The caller makes one more event, which the reader ends with.
void plain_reader_will_end(plain_reader *reader) { reader->is_done = 1; }
void plain_reader_join(plain_reader *reader) {
    pthread_join(reader->thread, NULL);
    free(reader);
}

static size_t dump(int socket, int type) {
    struct {
        struct nlmsghdr header;
        struct ifinfomsg payload;
    } request = {{sizeof request, (unsigned short)type, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {.ifi_family = AF_UNSPEC}};
    static _Thread_local char buffer[65536];
    if (send(socket, &request, sizeof request, 0) < 0) return 0;
    for (size_t messages = 0;;) {
        int left = (int)recv(socket, buffer, sizeof buffer, 0);
        if (left <= 0) return 0;
        for (struct nlmsghdr *header = (struct nlmsghdr *)buffer; NLMSG_OK(header, left);
             header = NLMSG_NEXT(header, left), messages++)
            if (header->nlmsg_type == NLMSG_DONE) return messages;
    }
}

static int route_get(int socket) {
    struct request request = route_request(1, 0, 0x2D000001, 32);
    request.header.nlmsg_type = RTM_GETROUTE;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.header.nlmsg_len -= 8;
    request.attribute1 = request.attribute2;
    request.value1 = request.value2;
    request.route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = RTM_F_LOOKUP_TABLE};
    char buffer[4096];
    if (send(socket, &request, request.header.nlmsg_len, 0) < 0) return -1;
    return recv(socket, buffer, sizeof buffer, 0) > 0 ? 0 : -1;
}

size_t plain_take_stock(const char *namespace) {
    int listener = plain_listener(namespace, 1 << 20), query = plain_netlink(namespace);
    size_t messages = dump(query, RTM_GETLINK) + dump(query, RTM_GETADDR);
    int status = route_get(query);
    close(listener);
    close(query);
    return status == 0 ? messages : 0;
}

static size_t number_in(int thread, const char *file, const char *format) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, file);
    FILE *stream = fopen(path, "re");
    size_t number = 0;
    if (!stream) return 0;
    while (fgets(line, sizeof line, stream) && sscanf(line, format, &number) != 1) {}
    fclose(stream);
    return number;
}

size_t plain_wakeups(int thread) { return number_in(thread, "status", "voluntary_ctxt_switches: %zu"); }
size_t plain_thread_nanoseconds(int thread) { return number_in(thread, "schedstat", "%zu"); }
int plain_thread(void) { return (int)syscall(SYS_gettid); }
