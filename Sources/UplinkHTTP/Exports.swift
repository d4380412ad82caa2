// SPDX-License-Identifier: Apache-2.0
// Requests and responses are made of the currency types.

@_exported public import HTTPTypes
