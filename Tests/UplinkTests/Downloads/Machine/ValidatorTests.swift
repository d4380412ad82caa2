// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import SystemPackage
import Testing

@testable import Uplink

/// What is read from heads, and from what an earlier run has left.
@Suite(.timeLimit(.minutes(1)))
struct ValidatorTests {
    private func validator(_ fields: HTTPFields) -> StrongValidator? {
        StrongValidator(of: HTTPResponse(status: .ok, headerFields: fields))
    }

    @Test func onlyStrongTagsAreValidators() {
        #expect(validator([.eTag: "\"a\""]) == .entityTag("\"a\""))
        #expect(validator([.eTag: "\"\""]) == .entityTag("\"\""))
        for tag in ["W/\"a\"", "a", "\"a", "\"", "", "\"a\"b\"", "\"a b\"", "w/\"a\"", "\"caf\u{e9}\""] {
            #expect(validator([.eTag: tag]) == nil, "\(tag)")
        }
        var two = HTTPFields()
        two.append(HTTPField(name: .eTag, value: "\"a\""))
        two.append(HTTPField(name: .eTag, value: "\"b\""))
        #expect(validator(two) == nil)
    }

    /// As texts, these are the same: an unknown byte becomes U+FFFD, and the Kelvin sign is a K.
    @Test func otherBytesAreAnotherVersion() throws {
        var unknown = HTTPFields()
        for byte: UInt8 in [0xE8, 0xE9] {
            unknown[fields: .eTag] = [HTTPField(name: .eTag, value: [0x22, byte, 0x22])]
            #expect(validator(unknown) == nil)
        }
        let known = try #require(validator([.eTag: "\"K\""]))
        let kelvin = HTTPResponse(status: .partialContent, headerFields: [.eTag: "\"\u{212A}\""])
        #expect(!known.isConfirmed(by: kelvin))
    }

    /// A record that an earlier version wrote.
    @Test func aTagThatIsNotASCIIIsNoRecord() throws {
        let version = ResourceVersion(validator: .entityTag("\"caf\u{fffd}\""), length: 5, place: "")
        let record = try #require(
            PartialRecord(of: version, askedFor: machineURL, synchronised: 3, boot: "b", file: 7))
        #expect(PartialRecord(text: record.text) == nil)
    }

    @Test func aDateMustBeAMinuteOld() {
        func validator(_ modified: String, _ date: String?, tag: String? = nil) -> StrongValidator? {
            var fields: HTTPFields = [.lastModified: modified]
            fields[.date] = date
            fields[.eTag] = tag
            return self.validator(fields)
        }
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(validator(modified, "Sun, 06 Nov 1994 08:50:37 GMT") == .lastModified(modified))
        #expect(validator(modified, "Sun, 06 Nov 1994 08:50:36 GMT") == nil)
        #expect(validator(modified, nil) == nil)
        #expect(validator("yesterday", "Sun, 06 Nov 1994 08:50:37 GMT") == nil)
        #expect(validator(modified, "Mon, 06 Nov 1995 08:50:37 GMT", tag: "W/\"a\"") == nil)  // section 13.1.5
    }

    @Test func aRecordIsReadAsItWasWritten() {
        for (validator, length) in [
            (StrongValidator.entityTag("\"a-b\""), Int64?.some(5)), (.lastModified("Sun, 06 Nov 1994"), nil),
        ] {
            let version = ResourceVersion(validator: validator, length: length, place: Fingerprint.of("x"))
            let record = PartialRecord(of: version, askedFor: machineURL, synchronised: 3, boot: "b", file: 7)
            #expect(record != nil)
            #expect(record.flatMap { PartialRecord(text: $0.text) } == record)
            #expect(record?.isOf(machineURL) == true)
            #expect(record?.isOf(machineURL + "?") == false)
            #expect(record?.version == version)
            // Any part of it is none.
            let text = record?.text ?? ""
            for count in 0..<text.count { #expect(PartialRecord(text: String(text.prefix(count))) == nil) }
        }
        let weak = ResourceVersion(validator: nil, length: 5, place: "")
        #expect(PartialRecord(of: weak, askedFor: machineURL, synchronised: 3, boot: "b", file: 7) == nil)
    }

    @Test func afterAnotherStartOfTheSystemOnlyWhatWasSynchronisedCounts() {
        let version = ResourceVersion(validator: .entityTag("\"a\""), length: 500, place: "")
        func reliable(_ recorded: String, _ now: String) -> Int64? {
            PartialRecord(of: version, askedFor: "", synchronised: 100, boot: recorded, file: 7)?
                .reliableBytes(of: 300, boot: now)
        }
        #expect(reliable("a", "a") == 300)
        #expect(reliable("a", "b") == 100)
        #expect(reliable("-", "-") == 100)  // nobody knows
    }

    @Test func namesFitWhateverTheTargetsIs() throws {
        func names(_ name: String) throws -> [String] {
            let names = try #require(PartialNames(.init("/d/\(name)")))
            return [names.partial, names.record, names.newRecord].map { bytes in
                String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        #expect(
            try names("a b.iso") == [".a b.iso.uplink-part", ".a b.iso.uplink-record", ".a b.iso.uplink-record-new"])
        let long = String(repeating: "n", count: 254)
        for name in try names(long + "1") { #expect(name.utf8.count <= 255) }
        #expect(try Set(names(long + "1")).isDisjoint(with: names(long + "2")))
        // Characters stay whole.
        for name in try names("1 " + String(repeating: "字", count: 80)) {
            #expect(name.utf8.count <= 255 && !name.contains("\u{FFFD}"))
        }
        for path in ["", "/", "..", ".", "a/.."] { #expect(PartialNames(.init(path)) == nil, "\(path)") }
        #expect(PartialNames("b")?.directory == ".")
        #expect(PartialNames("a/b/")?.directory == "a")  // a slash at the end is no part of a FilePath
    }
}
