// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A run in a process of its own: this program, started once more with the subject's name.
enum Child {
    /// Runs it and returns its figures; nil when it failed, which it has said on the standard error.
    static func run(_ experiment: Experiment, _ subject: Subject, count: Int) -> Figures? {
        let words = ["/proc/self/exe", "--run", experiment.name, subject.name, String(count)]
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        defer { posix_spawn_file_actions_destroy(&actions) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let status = posix_spawn(&process, words[0], &actions, nil, &arguments, environ)
        close(ends[1])
        guard status == 0, let output = fdopen(ends[0], "r") else { return nil }
        defer { fclose(output) }
        let line = readWhole(output)
        var exit: CInt = 0
        waitpid(process, &exit, 0)
        return exit == 0 ? Figures(line: line) : nil
    }

    /// The other side: what such a process does. Returns its exit status.
    static func main(_ arguments: [String], _ experiments: [Experiment]) async -> CInt {
        guard arguments.count == 3, let count = Int(arguments[2]),
            let experiment = experiments.first(where: { $0.name == arguments[0] }),
            let subject = experiment.subjects.first(where: { $0.name == arguments[1] })
        else { return 2 }
        let run = Run(count: count)
        do {
            try await subject.run(run)
        } catch {
            complain("\(experiment.name), \(subject.name), \(count): \(error)")
            return 1
        }
        guard let figures = run.figures else { return 1 }
        print(figures.line)
        return 0
    }
}

extension Figures {
    /// The figures as words: name=value …
    var line: String {
        let all = ["cpu": cpu, "wall": wall, "peak": peak].merging(notes) { $1 }
        return all.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
    }

    init?(line: String) {
        var values: [String: Double] = [:]
        for word in line.split(whereSeparator: \.isWhitespace) {
            let parts = word.split(separator: "=")
            if parts.count == 2 { values[String(parts[0])] = Double(parts[1]) }
        }
        guard let cpu = values.removeValue(forKey: "cpu"), let wall = values.removeValue(forKey: "wall"),
            let peak = values.removeValue(forKey: "peak")
        else { return nil }
        self.init(cpu: cpu, wall: wall, peak: peak, notes: values)
    }
}
