/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of HTTP servers. Part of uplink.h, which has the rules for all of it. */
#ifndef UPLINK_RESPONSE_H
#define UPLINK_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The head of an answer. Valid until the callback that got it returns. */
typedef struct uplink_response uplink_response;

/* The status, such as 200; no status is an error by itself. 0 for NULL. */
int uplink_response_status(const uplink_response *response);

/* The URL that answered, after all redirects. */
const char *uplink_response_url(const uplink_response *response);

/* What Content-Length announces, or -1. */
int64_t uplink_response_content_length(const uplink_response *response);

/* The value of a header field by its name, in upper or lower case; several fields of one name are joined with ", ".
 * NULL if there is none. Its bytes are as the server sent them, which need not be UTF-8. */
const char *uplink_response_header(const uplink_response *response, const char *name);

/* How many header fields there are. */
size_t uplink_response_header_count(const uplink_response *response);

/* The name of one of them, or NULL. */
const char *uplink_response_header_name(const uplink_response *response, size_t field);

/* The value of one of them, as the server sent it, or NULL. */
const char *uplink_response_header_value(const uplink_response *response, size_t field);

#ifdef __cplusplus
}
#endif

#endif
