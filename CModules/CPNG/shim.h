// SPDX-License-Identifier: Apache-2.0
// What the program `uplink` needs of libpng to decode a picture (trait Pictures).
#ifndef UPLINK_CPNG_SHIM_H
#define UPLINK_CPNG_SHIM_H

#include <png.h>

// Macros that Swift cannot import.
static const png_uint_32 uplink_png_image_version = PNG_IMAGE_VERSION;
static const png_uint_32 uplink_png_format_rgba = PNG_FORMAT_RGBA;

#endif
