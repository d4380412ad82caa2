// SPDX-License-Identifier: Apache-2.0

extension Results {
    /// The experiment's part of the page: a heading, the plot, and a table for each kind of figure.
    func markdown(plot: String?) -> String {
        var parts = ["### \(experiment.title)"]
        if let plot { parts.append("![Processor time of one \(experiment.operation), by their number](\(plot))") }
        parts.append(
            table("CPU time per \(experiment.operation)") { figures, baseline in
                guard let baseline, baseline.cpu > 0 else { return time(figures.cpu) }
                return "\(time(figures.cpu)) (\(ratio(figures.cpu, to: baseline.cpu)))"
            })
        for column in experiment.columns { parts.append(table(of: column)) }
        return parts.joined(separator: "\n\n")
    }

    private func table(of column: Experiment.Column) -> String {
        switch column {
        case .wall: table("Wall time per \(experiment.operation)") { figures, _ in time(figures.wall) }
        case .peak: table("Peak memory per \(experiment.operation)") { figures, _ in bytes(figures.peak) }
        case .part(let name):
            table("Of this, \(name)") { figures, _ in figures.notes[name].map(time) ?? "–" }
        case .time(let name): table(name) { figures, _ in figures.notes[name].map(time) ?? "–" }
        case .number(let name):
            table(name) { figures, _ in figures.notes[name].map { grouped(Int($0)) } ?? "–" }
        case .peakOfAll:
            table("Peak memory in all") { figures, _ in figures.notes[Run.peakOfAll].map(bytes) ?? "–" }
        case .contextSwitches:
            table("Context switches in all") { figures, _ in
                figures.notes[Run.contextSwitches].map { grouped(Int($0)) } ?? "–"
            }
        case .bytesBeyondBaseline(let name):
            table("Memory \(name) per \(experiment.operation) (and beyond the first row's)") { figures, baseline in
                guard let own = figures.notes[name] else { return "–" }
                guard let base = baseline?.notes[name] else { return bytes(own) }
                return "\(bytes(own)) (\(bytes(own - base)))"
            }
        }
    }

    /// A row for each subject and a column for each count. The cell is also told the baseline's figures, but its own
    /// are told none.
    private func table(_ title: String, _ cell: (Figures, _ baseline: Figures?) -> String) -> String {
        let head = "| \(title) | " + counts.map { "\(grouped($0)) |" }.joined(separator: " ")
        let line = "|---|" + counts.map { _ in "--:|" }.joined()
        let rows = experiment.subjects.enumerated().map { place, subject in
            let cells = counts.map { count in
                guard let figures = self[subject, count] else { return "– |" }
                return cell(figures, place == 0 ? nil : baseline.flatMap { self[$0, count] }) + " |"
            }
            return "| \(subject.name) | " + cells.joined(separator: " ")
        }
        return ([head, line] + rows).joined(separator: "\n")
    }
}
