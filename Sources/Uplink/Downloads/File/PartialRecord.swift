// SPDX-License-Identifier: Apache-2.0

/// What is recorded beside a partial file, for a later run that goes on with it, even if this process was killed.
///
/// URLs are recorded as digests, because they may contain secrets.
struct PartialRecord: Sendable, Equatable {
    /// What was asked for; see `HTTPFields.wording(for:)`.
    var request: String
    /// Where the bytes came from, after redirects; see ``ResourceVersion/place``.
    var place: String
    /// The version that the bytes belong to.
    var validator: StrongValidator
    /// Its size, if it is known.
    var length: Int64?
    /// The content codings of the bytes; see ``ResourceVersion/codings``.
    var codings: [String]
    /// How many of the bytes are certainly on the disk.
    var synchronised: Int64
    /// The boot of the system that the record was written in; after another boot only ``synchronised`` bytes can be
    /// relied upon.
    var boot: String
    /// The inode number of the file with the bytes, because there may be another file with its name by now. The device
    /// number is not recorded: it may change with a boot, and the record is in the same directory anyway.
    var file: UInt64

    init?(of version: ResourceVersion, askedFor asked: String, synchronised: Int64, boot: String, file: UInt64) {
        guard let validator = version.validator else { return nil }
        (request, place) = (Fingerprint.of(asked), version.place)
        (self.validator, length, codings) = (validator, version.length, version.codings)
        (self.synchronised, self.boot, self.file) = (synchronised, boot, file)
    }

    /// How many bytes of a file of this size belong to the version.
    func reliableBytes(of size: Int64, boot: String) -> Int64 {
        self.boot == boot && boot != Self.unknownBoot ? size : min(size, synchronised)
    }

    /// Whether the bytes are what a download asks for.
    func isOf(_ asked: String) -> Bool { request == Fingerprint.of(asked) }

    /// The version that the bytes belong to.
    var version: ResourceVersion {
        ResourceVersion(validator: validator, length: length, place: place, codings: codings)
    }

    static let unknownBoot = "-"
}

// The record as text: a line for each value, and one for codings only if there are any.
extension PartialRecord {
    private static let format = "uplink-record 2"
    /// The longest record; anything longer is none.
    static let maximumBytes = 64 * 1024

    var text: String {
        let (kind, value) =
            switch validator {
            case .entityTag(let tag): ("tag", tag)
            case .lastModified(let date): ("date", date)
            }
        return """
            \(Self.format)
            request \(request)
            place \(place)
            \(kind) \(value)
            length \(length.map(String.init) ?? "unknown")
            synchronised \(synchronised)
            boot \(boot)
            file \(file)\(codings.isEmpty ? "" : "\ncodings \(codings.joined(separator: ","))")
            end

            """
    }

    /// Reads a record; nil for anything that ``text`` did not produce, also for the beginning of that.
    init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard (10...11).contains(lines.count), lines[0] == Self.format, lines[lines.count - 2] == "end",
            lines[lines.count - 1].isEmpty
        else { return nil }
        func value(_ line: Int, _ name: String) -> String? {
            lines[line].hasPrefix("\(name) ") ? String(lines[line].dropFirst(name.utf8.count + 1)) : nil
        }
        guard let request = value(1, "request"), let place = value(2, "place"),
            let validator = value(3, "tag").flatMap({ StrongValidator.isStrong($0) ? .entityTag($0) : nil })
                ?? value(3, "date").map(StrongValidator.lastModified),
            let length = value(4, "length"), let synchronised = value(5, "synchronised").flatMap(Int64.init),
            let boot = value(6, "boot"), let file = value(7, "file").flatMap(UInt64.init), synchronised >= 0
        else { return nil }
        if length == "unknown" {
            self.length = nil
        } else {
            guard let length = Int64(length), length >= 0 else { return nil }
            self.length = length
        }
        codings = []
        if lines.count == 11 {
            guard let names = value(8, "codings") else { return nil }
            codings = names.split(separator: ",").map(String.init)
        }
        (self.request, self.place, self.validator) = (request, place, validator)
        (self.synchronised, self.boot, self.file) = (synchronised, boot, file)
    }
}
