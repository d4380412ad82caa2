// SPDX-License-Identifier: Apache-2.0
// What UplinkEventLoop needs from libuv, and some system calls.
#ifndef UPLINK_CLIBUV_SHIM_H
#define UPLINK_CLIBUV_SHIM_H

#if !__has_include(<uv.h>)
#error "Uplink needs libuv, and its header uv.h is not here: apt install libuv1-dev"
#endif
#include <uv.h>

// Calls that glibc declares only for _GNU_SOURCE, or in headers that Swift's Glibc module leaves out.
#include <sys/eventfd.h>
int setns(int descriptor, int kind);
int pthread_setname_np(pthread_t thread, const char *name);

// A macro, and a flag hidden behind _GNU_SOURCE.
static const int uplink_clone_newnet = 0x40000000;
static const int uplink_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

#endif
