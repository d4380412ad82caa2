// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The experiments of one program, and its `main`.
///
/// `PROGRAM [--quick] [--rounds N] [--largest N] [--page FILE] [EXPERIMENT…]` runs them and prints their tables; with
/// `--page` it writes them into that page, and the plots beside it.
public struct Suite {
    let name: String
    let experiments: [Experiment]

    public init(_ name: String, _ experiments: [Experiment]) {
        self.name = name
        self.experiments = experiments
    }

    public func main() async -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--run" { exit(await Child.main(Array(arguments.dropFirst()), experiments)) }
        do {
            try run(Options(arguments))
        } catch {
            complain("\(name): \(error)")
            exit(1)
        }
        exit(0)
    }

    private func run(_ options: Options) throws {
        let circumstances = Circumstances()
        let chosen = experiments.filter { experiment in
            options.names.isEmpty
                ? !experiment.isOnRequest || options.saysLargest : options.names.contains(experiment.name)
        }
        var parts: [String] = []
        for experiment in chosen {
            let results = Results(running: experiment, rounds: options.rounds, largest: options.largest)
            var picture: String?
            if let page = options.page, let plot = Plot(of: results) {
                picture = "pictures/\(experiment.name).svg"
                try write(plot.svg, to: directory(of: page) + "pictures/\(experiment.name).svg")
            }
            parts.append(results.markdown(plot: picture))
        }
        let command = "scripts/benchmark " + ([name.lowercased()] + options.words).joined(separator: " ")
        parts.append(circumstances.sentence(command: command, rounds: options.rounds))
        let text = parts.joined(separator: "\n\n")
        print(text)
        if let path = options.page { try Page(path: path).replace(name, with: text) }
    }

    private func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }
}

/// What the command line asks for.
private struct Options {
    var rounds = 5
    var largest = Int.max
    var saysLargest = false
    var page: String?
    var names: [String] = []
    /// What the command line said that changes the figures.
    var words: [String] = []

    struct Unknown: Error, CustomStringConvertible {
        let word: String
        var description: String { "no option or number: \(word)" }
    }

    init(_ arguments: [String]) throws(Unknown) {
        var rest = arguments[...]
        func number() throws(Unknown) -> Int {
            guard let word = rest.popFirst(), let number = Int(word), number > 0 else {
                throw Unknown(word: rest.first ?? "")
            }
            return number
        }
        while let word = rest.popFirst() {
            switch word {
            case "--quick":
                (rounds, largest) = (1, 100_000)
                words.append(word)
            case "--rounds":
                rounds = try number()
                words += [word, String(rounds)]
            case "--largest":
                (largest, saysLargest) = (try number(), true)
                words += [word, String(largest)]
            case "--page": page = rest.popFirst()
            default:
                if word.hasPrefix("-") { throw Unknown(word: word) }
                names.append(word)
            }
        }
    }
}
