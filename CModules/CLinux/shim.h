/* SPDX-License-Identifier: Apache-2.0 */
/* What Swift's Glibc module leaves out. */
#ifndef UPLINK_LINUX_SHIM_H
#define UPLINK_LINUX_SHIM_H

#include <pthread.h>
#include <sys/eventfd.h>

/* In C the flags are an enumeration with a type of its own, which Swift does not import as a number. */
static inline int uplink_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

#endif
