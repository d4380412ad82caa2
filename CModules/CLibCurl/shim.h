// SPDX-License-Identifier: Apache-2.0
#ifndef UPLINK_CLIBCURL_SHIM_H
#define UPLINK_CLIBCURL_SHIM_H

#include <curl/curl.h>

#endif
