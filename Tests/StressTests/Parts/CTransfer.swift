// SPDX-License-Identifier: Apache-2.0
import CUplink
import TestSupport
import Uplink

/// A transfer by the C library from a server that misbehaves, in each of its forms.
final class CTransfer: CCall, @unchecked Sendable {  // as its superclass
    private enum Form: CaseIterable { case streamed, paused, refused, collected }

    private static let refusal: CInt = -1000

    private let form: Form
    private let conduct: MisbehavingServer.Conduct
    private let waits: Bool

    init(in storm: CStorm, _ random: inout SeededGenerator) {
        conduct = MisbehavingServer.Conduct.allCases.randomElement(using: &random) ?? .whole
        form = Form.allCases.randomElement(using: &random) ?? .streamed
        waits = random.oneIn(3)
        super.init(in: storm)
    }

    override func begin(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt {
        conduct.isUpload ? upload(user, &id) : get(user, &id)
    }

    private func get(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt {
        var options = uplink_get_options()
        options.size = MemoryLayout<uplink_get_options>.size
        options.waits_for_network = waits
        options.wait_milliseconds = 20
        options.connect_milliseconds = 5000
        options.first_byte_milliseconds = 300
        options.stall_milliseconds = 300
        let url = storm.server.url(conduct)
        switch form {
        case .collected: return uplink_get_collect(storm.context, url, &options, 100_000, Self.done, user, &id)
        case .streamed, .paused, .refused:
            return uplink_get(storm.context, url, &options, Self.piece, Self.done, user, &id)
        }
    }

    private func upload(_ user: UnsafeMutableRawPointer, _ id: inout UInt64) -> CInt {
        var request: OpaquePointer?
        var status = uplink_request_create("POST", storm.server.url(conduct), &request)
        defer { uplink_request_free(request) }
        let body = [UInt8](repeating: 7, count: 20_000)
        if status == 0 { status = uplink_request_set_body(request, body, body.count) }
        guard status == 0 else { return status }
        var options = uplink_request_options()
        options.size = MemoryLayout<uplink_request_options>.size
        options.connect_milliseconds = 5000
        options.first_byte_milliseconds = 300
        options.stall_milliseconds = 300
        switch form {
        case .collected: return uplink_request_collect(storm.context, request, &options, 100_000, Self.done, user, &id)
        case .streamed, .paused, .refused:
            return uplink_request_send(storm.context, request, &options, Self.piece, Self.done, user, &id)
        }
    }

    private static var piece: uplink_body_cb {
        { _, id, _, _, count, user in
            guard let call = CTransfer.of(user), count > 0 else { return 0 }
            switch call.form {
            case .streamed, .collected: return 0
            case .refused: return CTransfer.refusal
            case .paused:
                call.storm.leaveOpen(id)
                return 1
            }
        }
    }

    private static var done: uplink_get_cb {
        { _, _, result, user in
            guard let call = CTransfer.of(user), let result = result?.pointee else { return }
            let record = call.storm.record
            if result.status == 0, uplink_response_status(result.response) == 200 {
                let count = call.form == .collected ? Int64(result.count) : result.received
                let isRight = call.conduct.mayBeWhole && count == Int64(MisbehavingServer.body.utf8.count)
                record.expect(isRight, "\(call.conduct) was taken for \(count) bytes")
            }
            record.expect(result.status != CTransfer.refusal || call.form == .refused, "nobody refused a body")
            call.noteEnd(result.status)
        }
    }
}
