// SPDX-License-Identifier: Apache-2.0
#ifndef UPLINK_BENCHMARKS_CUV_SHIM_H
#define UPLINK_BENCHMARKS_CUV_SHIM_H
#include <uv.h>
#endif
