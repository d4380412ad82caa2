// SPDX-License-Identifier: Apache-2.0
// What UplinkHTTP needs of zlib to decode bodies (trait Compression).
#ifndef UPLINK_CZLIB_SHIM_H
#define UPLINK_CZLIB_SHIM_H

#include <zlib.h>

// A macro that passes the version and the structure's size.
static inline int uplink_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

#endif
