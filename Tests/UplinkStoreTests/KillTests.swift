// SPDX-License-Identifier: Apache-2.0
#if Store
import Foundation
import GRDB
import Glibc
import SystemPackage
import TestSupport
import Testing
import UplinkCore

/// `kill -9` in the middle of syncs and of an outbox that is sent, again and again on the same file.
///
/// The server is a file to which the program appends what it sends; it has seen what stands in it.
@Suite(.timeLimit(.minutes(Effort.isFull ? 15 : 2)), .undisturbed)
struct KillTests {
    private let rounds = Effort.isFull ? 200 : 5

    @Test func nothingAcknowledgedIsLost() async throws {
        var random = SeededGenerator(seed: Effort.seed)
        print("seed \(Effort.seed)")
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path.appending("db")
        let server = directory.path.appending("server").string
        var promises = Promises()
        var inTheMiddle = 0
        for round in 0..<rounds {
            let victim = try Victim.start("work", path, server)
            // One in four is killed while it makes or opens the file; the others when they have promised something.
            if round % 4 != 0 { try await victim.waitForOutput("\nbatch ") }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...60_000, using: &random)))
            victim.signal(SIGKILL)
            #expect(try await victim.wait() == 128 + SIGKILL, "\(victim.output.suffix(300)) \(victim.errors)")
            #expect(!victim.output.contains("failed"), "\(victim.output.suffix(300))")
            inTheMiddle += promises.read(victim.output)
            try await check(path, server, promises)
        }
        let last = try Victim.start("drain", path, server)
        #expect(try await last.wait(upTo: .seconds(60)) == 0, "\(last.output) \(last.errors)")
        #expect(last.output.hasSuffix("empty\n"))
        let seen = try await check(path, server, promises)
        for entry in promises.entries { #expect(seen.contains(entry), "\(entry) was added and never sent") }
        #expect(inTheMiddle >= rounds / 2)
        print(
            "\(rounds) kills, \(inTheMiddle) in the middle: \(promises.batches.count) batches and "
                + "\(promises.entries.count) entries acknowledged, \(seen.count) entries sent")
    }

    /// What the programs have said that they did.
    private struct Promises {
        var batches: Set<Int> = []
        var entries: Set<String> = []

        /// One when the program had promised anything before it was killed.
        mutating func read(_ output: String) -> Int {
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()  // whole ones
            var count = 0
            for line in lines {
                let words = line.split(separator: " ")
                switch words.first {
                case "batch": batches.insert(Int(words[1]) ?? -1)
                case "entry": entries.insert("\(words[1]) \(words[2])")
                default: continue
                }
                count += 1
            }
            return min(count, 1)
        }
    }

    /// Returns the entries that the server has seen.
    @discardableResult
    private func check(_ path: FilePath, _ server: String, _ promises: Promises) async throws -> Set<String> {
        let lines = String(decoding: (try? TemporaryDirectory.read(FilePath(server))) ?? [], as: UTF8.self)
            .split(separator: "\n").map { $0.split(separator: " ") }
        var keys: [String: Substring] = [:]
        var last: [Substring: Int] = [:]
        for line in lines {
            guard line.count == 3, let number = Int(line[1]) else { throw Broken() }
            let entry = "\(line[0]) \(line[1])"
            #expect(keys.updateValue(line[2], forKey: entry) ?? line[2] == line[2], "\(entry) has two idempotency keys")
            // In order: each number for the first time after the one before it.
            let before = last[line[0]] ?? 0
            #expect(number == before + 1 || number == before, "\(entry) came after \(before)")
            last[line[0]] = max(before, number)
        }
        let seen = Set(keys.keys)
        guard access(path.string, F_OK) == 0 else { return seen }
        let database = try DatabaseQueue(path: try copy(path).string)
        try await database.read { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            // The store's own tables come last.
            guard try db.tableExists("uplink_outbox_totals") else {
                #expect(promises.batches.isEmpty && promises.entries.isEmpty)
                return
            }
            let batches = Set(try Int.fetchAll(db, sql: "SELECT number FROM batch"))
            #expect(promises.batches.isSubset(of: batches))
            let pieces = try Row.fetchAll(
                db, sql: "SELECT batch, COUNT(DISTINCT number) AS pieces FROM piece GROUP BY batch")
            #expect(Set(pieces.map { $0["batch"] as Int }) == batches)
            #expect(pieces.allSatisfy { $0["pieces"] == 20 })
            let results = try String.fetchAll(db, sql: "SELECT entry FROM result")
            let waiting = try String.fetchAll(
                db, sql: "SELECT key || ' ' || CAST(payload AS TEXT) FROM uplink_outbox")
            #expect(Set(results).count == results.count, "an entry was noted as done twice")
            #expect(seen.isSuperset(of: results), "an entry is noted as done that the server has not seen")
            #expect(promises.entries.isSubset(of: results + waiting), "an entry that was acknowledged is gone")
            #expect(Set(results).isDisjoint(with: waiting))
            try OutboxTotalsTests.check(db)
        }
        return seen
    }
}

extension KillTests {
    /// The next program is to open what the kill has left, not what a look at it has put in order.
    private func copy(_ path: FilePath) throws -> FilePath {
        let copy = FilePath(path.string + "-copy")
        for suffix in ["", "-wal", "-journal", "-shm"] {
            let (from, to) = (path.string + suffix, copy.string + suffix)
            unlink(to)
            // Not the -shm: it goes with the file's own locks, and is made anew.
            if suffix == "-shm" || access(from, F_OK) != 0 { continue }
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
        return copy
    }
}
#endif
