// SPDX-License-Identifier: Apache-2.0

/// What gathers until it is taken all at once. The storage is used again: there is such a batch in each turn of the loop.
struct Batch<Element> {
    private var elements: [Element] = []
    private var spare: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes what has gathered.
    mutating func take() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &spare)
        swap(&taken, &elements)
        return taken
    }

    /// Keeps the storage of what was taken, unless it was for very many.
    mutating func giveBack(_ taken: consuming [Element]) {
        guard taken.capacity <= 4096 else { return }
        taken.removeAll(keepingCapacity: true)
        spare = taken
    }
}
