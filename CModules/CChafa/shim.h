// SPDX-License-Identifier: Apache-2.0
// What the program `uplink` needs of libchafa to draw a picture in a terminal (trait Pictures).
#ifndef UPLINK_CCHAFA_SHIM_H
#define UPLINK_CCHAFA_SHIM_H

#include <chafa.h>

#endif
