// SPDX-License-Identifier: Apache-2.0

/// The medians of an experiment.
struct Results {
    let experiment: Experiment
    /// Keyed by the subject's name, then by the count.
    private(set) var medians: [String: [Int: Figures]] = [:]

    /// Runs the subjects in turn, A B C A B C …, so that what else the machine does falls on all of them.
    init(running experiment: Experiment, rounds: Int, largest: Int) {
        self.experiment = experiment
        for count in experiment.counts where count <= largest {
            var runs: [String: [Figures]] = [:]
            for round in 1...rounds {
                for subject in experiment.subjects where count <= subject.limit {
                    guard let figures = Child.run(experiment, subject, count: count) else { continue }
                    runs[subject.name, default: []].append(figures)
                    complain(
                        "\(experiment.name) \(count), round \(round): \(subject.name): \(time(figures.cpu)) of CPU, "
                            + "\(time(figures.wall)), \(bytes(figures.peak))")
                }
            }
            for (name, figures) in runs { medians[name, default: [:]][count] = Figures(medianOf: figures) }
        }
    }

    var counts: [Int] { experiment.counts.filter { count in medians.values.contains { $0[count] != nil } } }
    var baseline: Subject? { experiment.subjects.first }

    subscript(subject: Subject, count: Int) -> Figures? { medians[subject.name]?[count] }
}

extension Figures {
    init(medianOf runs: [Figures]) {
        self.init(
            cpu: median(runs.map(\.cpu)), wall: median(runs.map(\.wall)), peak: median(runs.map(\.peak)), notes: [:])
        for name in Set(runs.flatMap(\.notes.keys)) { notes[name] = median(runs.compactMap { $0.notes[name] }) }
    }
}

private func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
