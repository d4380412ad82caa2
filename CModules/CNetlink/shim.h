// SPDX-License-Identifier: Apache-2.0
// What UplinkMonitor needs from the kernel's netlink headers, and timerfd_create(2), which Swift's Glibc leaves out.
// Swift imports their functions, structs and constants as they are; nothing is wrapped.
#ifndef UPLINK_CNETLINK_SHIM_H
#define UPLINK_CNETLINK_SHIM_H

#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <sys/timerfd.h>

#endif
