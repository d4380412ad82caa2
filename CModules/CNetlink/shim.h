// SPDX-License-Identifier: Apache-2.0
#ifndef UPLINK_CNETLINK_SHIM_H
#define UPLINK_CNETLINK_SHIM_H

#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#endif
