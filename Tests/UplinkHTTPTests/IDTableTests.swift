// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import UplinkHTTP

@Suite(.timeLimit(.minutes(1)))
struct IDTableTests {
    @Test func nothingIsFoundInAnEmptyTable() {
        var table = IDTable()
        #expect(table.count == 0)
        #expect(table[0] == nil)
        #expect(table.remove(0) == nil)
        table[7] = nil
        #expect(table.count == 0)
    }

    @Test func aNumberCanBeReplaced() {
        var table = IDTable()
        table[.max] = 1
        table[.max] = 2
        #expect(table[.max] == 2)
        #expect(table.count == 1)
        #expect(table.remove(.max) == 2)
        #expect(table[.max] == nil)
    }

    /// Ids in order, as they are given out, and ids of which many have the same place: whatever comes and goes, it says
    /// what a dictionary says.
    @Test(arguments: [1, 1 << 32, 1 << 61, 0x1234_5678_9ABC_DEF1] as [UInt64])
    func itSaysWhatADictionarySays(step: UInt64) {
        var random = SeededGenerator(seed: step)
        var (table, dictionary) = (IDTable(), [UInt64: UInt32]())
        var newest: UInt64 = 0
        for round in 0..<20_000 {
            let most = round < 10_000 ? 300 : 5  // it grows, and is nearly empty again
            if dictionary.count < most, Bool.random(using: &random) {
                newest &+= step
                let number = UInt32.random(in: 0...9, using: &random)
                (table[newest], dictionary[newest]) = (number, number)
            } else {
                let id = newest &- step &* UInt64.random(in: 0...400, using: &random)
                #expect(table[id] == dictionary[id])
                #expect(table.remove(id) == dictionary.removeValue(forKey: id))
            }
            #expect(table.count == dictionary.count)
        }
        for (id, number) in dictionary { #expect(table[id] == number) }
    }
}
