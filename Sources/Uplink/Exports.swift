// SPDX-License-Identifier: Apache-2.0

// `import Uplink` brings everything that a program needs, including the currency types of swift-http-types and the
// types of swift-system that our signatures name, so that a path need not be a literal.

@_exported public import HTTPTypes
@_exported public import UplinkCore
@_exported public import UplinkCurl
@_exported public import UplinkEventLoop
@_exported public import UplinkHTTP
@_exported public import UplinkMonitor

@_exported public import struct SystemPackage.FilePath
@_exported public import struct SystemPackage.FilePermissions
