/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UPLINK_VERSION_H
#define UPLINK_VERSION_H

/* The version of these headers; uplink_version() returns that of the library that is running. */
#define UPLINK_VERSION_MAJOR 1
#define UPLINK_VERSION_MINOR 1
#define UPLINK_VERSION_PATCH 0
#define UPLINK_VERSION_STRING "1.1.0"

/* A version as one number that can be compared: 0x010203 for 1.2.3. */
#define UPLINK_VERSION_NUMBER(major, minor, patch) (((major) << 16) | ((minor) << 8) | (patch))
#define UPLINK_VERSION_HEX UPLINK_VERSION_NUMBER(UPLINK_VERSION_MAJOR, UPLINK_VERSION_MINOR, UPLINK_VERSION_PATCH)

/* Whether these headers are of this version or a newer one; for #if. */
#define UPLINK_AT_LEAST_VERSION(major, minor, patch) (UPLINK_VERSION_HEX >= UPLINK_VERSION_NUMBER(major, minor, patch))

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, to compare with UPLINK_VERSION_NUMBER(major, minor, patch). */
unsigned int uplink_version(void);

/* The same as text, such as "1.1.0"; static. */
const char *uplink_version_string(void);

#ifdef __cplusplus
}
#endif

#endif
