// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

/// The process's memory, second by second.
struct MemoryRecord {
    /// How much the median of the last quarter may be beyond that of the second quarter, which begins when the
    /// allocators, and the sanitizer, have what they need.
    private struct Tolerance {
        let share: Double
        let bytes: Int

        func allows(_ medians: (early: Int, late: Int)) -> Bool {
            Double(medians.late) <= Double(medians.early) * (1 + share) + Double(bytes)
        }
    }

    /// What was asked for and not given back. A leak of 100 bytes for each call of a run of ten minutes is several
    /// times this.
    private static let ofAllocated = Tolerance(share: 0.25, bytes: 4 << 20)
    /// What the kernel gave: also what allocators keep for themselves, and the sanitizer's notes of each stack it has
    /// seen.
    private static let ofResident = Tolerance(share: 0.15, bytes: 32 << 20)
    /// With fewer samples the first quarter is not long enough for that.
    private static let leastSamples = 240

    /// ThreadSanitizer's own count; nil without it.
    private static let countAllocated = dlsym(nil, "__sanitizer_get_current_allocated_bytes").map {
        unsafeBitCast($0, to: (@convention(c) () -> Int).self)
    }

    private var allocated: [Int] = []
    private var resident: [Int] = []

    mutating func sample() {
        resident.append(Census.residentBytes)
        if let count = Self.countAllocated { allocated.append(count()) }
    }

    /// What is wrong with it, in words.
    var faults: [String] {
        guard resident.count >= Self.leastSamples else { return [] }
        let isFlat =
            Self.medians(allocated).map(Self.ofAllocated.allows) ?? true
            && Self.medians(resident).map(Self.ofResident.allows) ?? true
        return isFlat ? [] : ["memory grows: \(description)"]
    }

    var description: String {
        var words = "\(Self.words(resident)) resident"
        if !allocated.isEmpty { words += "; \(Self.words(allocated)) allocated" }
        return words + " (medians of the second and the last quarter, most)"
    }

    private static func words(_ samples: [Int]) -> String {
        guard let medians = medians(samples) else { return "nothing known" }
        return [medians.early, medians.late, samples.max() ?? 0]
            .map { "\(Double(($0 * 10) >> 20) / 10) MiB" }.joined(separator: ", ")
    }

    /// Those of the second and the last quarter.
    private static func medians(_ samples: [Int]) -> (early: Int, late: Int)? {
        let quarter = samples.count / 4
        guard quarter > 0 else { return nil }
        return (median(samples[quarter..<2 * quarter]), median(samples.suffix(quarter)))
    }

    private static func median(_ values: ArraySlice<Int>) -> Int { values.sorted()[values.count / 2] }
}
