// SPDX-License-Identifier: Apache-2.0
// The test kit's own wait is that of all our tests.
@_exported public import func UplinkTesting.eventually
