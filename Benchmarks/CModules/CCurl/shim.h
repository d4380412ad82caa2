// SPDX-License-Identifier: Apache-2.0
#ifndef UPLINK_BENCHMARKS_CCURL_SHIM_H
#define UPLINK_BENCHMARKS_CCURL_SHIM_H
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#endif
