// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import UplinkHTTP

@testable import Uplink

/// A server whose file changes now and then, and which answers requests for parts of it in every way that is told of
/// servers, short of giving different bytes the same strong validator.
struct SimulatedServer {
    /// An answer, with what comes of its body.
    struct Answer {
        var head: DownloadAnswer
        var version: Int
        /// What is in the body, from where in the file.
        var body: Range<Int> = 0..<0
        /// More than the head says.
        var excess = 0
        /// The connection breaks behind so many bytes.
        var breaksAfter: Int?
    }

    static let url = "https://example.org/file"

    private let dice: Dice
    private(set) var version = 1
    /// The sizes of all versions, from the first one on.
    private var sizes: [Int]
    /// Whether it does what a good server does.
    var isWell = false
    /// Whether it has entity tags, strong ones.
    private let hasTags: Bool

    init(_ dice: Dice) {
        self.dice = dice
        sizes = [dice.roll(60)]
        hasTags = !dice.isOne(in: 5)
    }

    private var size: Int { size(of: version) }
    func size(of version: Int) -> Int { sizes[version - 1] }

    static func byte(_ offset: Int, of version: Int) -> UInt8 { UInt8(truncatingIfNeeded: offset * 31 + version * 97) }

    /// The file changes.
    mutating func change() {
        version += 1
        sizes.append(dice.roll(60))
        dice.tell("the server has version \(version) of \(size) bytes")
    }

    mutating func answer(to plan: DownloadMachine.Plan) -> Answer {
        if !isWell, dice.isOne(in: 6) { return refuse() }
        switch plan {
        case .whole: return whole()
        case .rest(let offset, let validator):
            let isSame = validator == .entityTag(tag)
            if !isWell {
                switch dice.roll(10) {
                case 0: return Answer(head: head(412), version: version)
                case 1: return Answer(head: head(416, range: "bytes */\(size)"), version: version)
                case 2: return part(from: Int64(max(0, Int(offset) - 1)))
                case 3: return part(from: offset)  // whatever `If-Range` says
                case 4: return whole()
                default: break
                }
            }
            if !isSame { return whole() }
            return offset < size
                ? part(from: offset) : Answer(head: head(416, range: "bytes */\(size)"), version: version)
        }
    }

    private var tag: String { "\"v\(version)\"" }

    private func refuse() -> Answer {
        let status = dice.pick([500, 503, 503, 429, 302, 404])
        var answer = Answer(head: head(status), version: version)
        if dice.isOne(in: 2) { answer.head.head.headerFields[.retryAfter] = "\(dice.pick([0, 3, 100_000]))" }
        return answer
    }

    private func whole() -> Answer {
        var answer = Answer(head: head(200), version: version, body: 0..<size)
        let hasLength = isWell || !dice.isOne(in: 4)
        answer.head.bodyLength = hasLength ? Int64(size) : nil
        answer.head.isFramed = hasLength || !dice.isOne(in: 4)
        return spoilt(answer)
    }

    private func part(from offset: Int64) -> Answer {
        guard offset < size else { return whole() }
        let last = isWell || dice.isOne(in: 2) ? size - 1 : Int(offset) + dice.roll(size - Int(offset))
        let total = isWell || !dice.isOne(in: 4) ? "\(size)" : "*"
        var answer = Answer(
            head: head(206, range: "bytes \(offset)-\(last)/\(total)"), version: version, body: Int(offset)..<last + 1)
        answer.head.bodyLength = Int64(answer.body.count)
        if !isWell, dice.isOne(in: 20) {
            answer.head.head.headerFields[.contentType] = "multipart/byteranges; boundary=x"
        }
        return spoilt(answer)
    }

    private func spoilt(_ answer: Answer) -> Answer {
        var answer = answer
        if isWell { return answer }
        if dice.isOne(in: 2) { answer.breaksAfter = dice.roll(answer.body.count + 1) }
        if answer.head.bodyLength != nil, dice.isOne(in: 15) { answer.excess = 1 + dice.roll(3) }
        return answer
    }

    private func head(_ status: Int, range: String? = nil) -> DownloadAnswer {
        var fields = HTTPFields()
        if hasTags { fields[.eTag] = !isWell && dice.isOne(in: 10) ? "W/\(tag)" : tag }
        if let range { fields[.contentRange] = range }
        return DownloadAnswer(
            head: HTTPResponse(status: .init(code: status), headerFields: fields), url: Self.url, bodyLength: nil,
            isFramed: true)
    }
}
