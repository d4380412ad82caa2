// SPDX-License-Identifier: Apache-2.0
#include "plainc.h"

#include <malloc.h>
#include <uv.h>

size_t plain_bytes_in_use(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

const char *plain_libuv_version(void) { return uv_version_string(); }
