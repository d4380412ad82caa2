/* SPDX-License-Identifier: Apache-2.0 */
/* What Swift's Glibc module leaves out. */
#ifndef UPLINK_LINUX_SHIM_H
#define UPLINK_LINUX_SHIM_H

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

/* The flags are an enumeration of their own type in C, of which Swift makes no number. */
static inline int uplink_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* prctl is variadic. */
static inline void uplink_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

#endif
