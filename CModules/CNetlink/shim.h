// SPDX-License-Identifier: Apache-2.0
// What UplinkMonitor needs from the kernel's netlink headers. They declare structs and constants alone, which Swift
// imports as they are; nothing is wrapped.
#ifndef UPLINK_CNETLINK_SHIM_H
#define UPLINK_CNETLINK_SHIM_H

#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>

#endif
