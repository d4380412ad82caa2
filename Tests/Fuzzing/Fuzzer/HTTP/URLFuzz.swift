// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

/// Text that claims to be a URL, and after a line feed a reference that its answer gives: both ways to read a URL
/// agree, what is accepted is in its normal form, and a URL that is written is read as the same.
enum URLFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let url = read(lines[0], HTTPURLParser.parse)
        try expect(url == read(lines[0], HTTPURLParser.parseUnusual), "\(lines[0]) can be read in two ways")
        guard let url else { return }
        try check(url)
        try expect(url.resolving("") == url, "nothing leads away from \(url.text)")
        try expect(url.resolving(url.text) == url, "\(url.text) leads from itself to another")
        guard lines.count > 1, let next = url.resolving(lines[1]) else { return }
        try check(next)
        if let absolute = read(lines[1], HTTPURLParser.parse) {
            try expect(
                next.textWithoutFragment == absolute.textWithoutFragment, "\(lines[1]) depends on who refers to it")
        }
    }

    private static func check(_ url: HTTPURL) throws(Fault) {
        try expect(read(url.text, HTTPURLParser.parse) == url, "\(url.text) is written and read as another")
        try expect(url.host == url.host.lowercased() && !url.host.isEmpty && url.port > 0, "the origin \(url.origin)")
        let segments = url.path.split(separator: "/", omittingEmptySubsequences: false)
        try expect(segments.first == "", "the path \(url.path)")
        for segment in segments.dropFirst() {
            let plain = segment.lowercased().split(separator: "%2e", omittingEmptySubsequences: false)
                .joined(separator: ".")
            try expect(plain != "." && plain != "..", "a way up in \(url.path)")
        }
        let isVisible = url.text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        try expect(isVisible, "a character that is not printable")
        let request = HTTPRequest(method: .get, url: url)
        let checked = read("") { _ throws(HTTPClientError) in try request.checkedURL() }
        try expect(checked?.text == url.textWithoutFragment, "the request for \(url.text) is for another")
    }

    private static func read(
        _ text: String, _ parse: (String) throws(HTTPClientError) -> HTTPURL
    ) -> HTTPURL? {
        do throws(HTTPClientError) { return try parse(text) } catch { return nil }
    }
}
