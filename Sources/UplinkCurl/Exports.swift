// SPDX-License-Identifier: Apache-2.0
// A transport is of use with the client that it is for, on a loop: without another import.

@_exported public import UplinkEventLoop
@_exported public import UplinkHTTP
