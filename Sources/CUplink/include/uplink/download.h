/* SPDX-License-Identifier: Apache-2.0 */
/* Downloads that outlive an outage. Part of uplink.h, which says what holds for all of it. */
#ifndef UPLINK_DOWNLOAD_H
#define UPLINK_DOWNLOAD_H
#endif
