// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The program `ip` of iproute2.
enum IPCommand {
    /// Its path; nil if it is missing.
    static let path: String? = {
        // The directories of root's programs are not in everyone's PATH.
        let directories = (ProcessEnvironment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (directories + ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]).map { "\($0)/ip" }.first {
            access($0, X_OK) == 0
        }
    }()

    /// Runs it to its end, and throws if it fails.
    static func run(
        _ arguments: [String], input: String = "", within limit: Duration
    ) throws(TestNetworkError) {
        guard let path else { throw .toolMissing }
        let result = try ChildProgram([path] + arguments, input: input).waitForResult(within: limit)
        guard result.status == 0 else {
            let said = result.errors.isEmpty ? "status \(result.status)" : result.errors
            throw TestNetworkError(
                .commandFailed, message: "`ip \(arguments.joined(separator: " "))` failed: \(said.trimmed)")
        }
    }
}

extension String {
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
