// SPDX-License-Identifier: Apache-2.0
// Paths, monitors and errors stand in this module's signatures. `UplinkHTTP` is left to who stubs a transport: its
// names would be in the way of another client's.

@_exported public import UplinkCore
