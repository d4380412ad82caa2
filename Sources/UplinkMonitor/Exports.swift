// SPDX-License-Identifier: Apache-2.0
// Paths, errors and loops stand in this module's signatures: it is of use without another import.

@_exported public import UplinkCore
@_exported public import UplinkEventLoop
