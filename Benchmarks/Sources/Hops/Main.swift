// SPDX-License-Identifier: Apache-2.0
import Harness

@main enum Main { static func main() {} }
