// SPDX-License-Identifier: Apache-2.0

/// Elements that gather until all of them are taken together. The storage is reused, because each turn of the loop has
/// such a batch.
struct Batch<Element> {
    private var elements: [Element] = []
    private var spare: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the elements that have gathered.
    mutating func take() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &spare)
        swap(&taken, &elements)
        return taken
    }

    /// Keeps the storage of the elements taken, unless it is very large.
    mutating func giveBack(_ taken: consuming [Element]) {
        guard taken.capacity <= 4096 else { return }
        taken.removeAll(keepingCapacity: true)
        spare = taken
    }
}
