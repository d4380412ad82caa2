// SPDX-License-Identifier: Apache-2.0
import UplinkCore
import UplinkEventLoop

/// Runs the probes that the schedules ask for: the shell around ``ValidationSchedule``, one for each family. Belongs to
/// the loop's thread; the probes themselves run elsewhere, so that none can block the loop.
final class ValidationRunner {
    /// A family's schedule, its timer and its running probe.
    private final class Course {
        let family: IPAddress.Family
        let timer: LoopTimer
        var schedule: ValidationSchedule
        var task: Task<Void, Never>?

        init(_ family: IPAddress.Family, _ timer: LoopTimer, _ schedule: ValidationSchedule) {
            (self.family, self.timer, self.schedule) = (family, timer, schedule)
        }

        deinit { task?.cancel() }
    }

    private let probe: ValidationProbe
    private var courses: [Course] = []
    private var path = NetworkPath()
    private weak var owner: PathWatcher?
    /// The number of probes started.
    private(set) var started: UInt64 = 0

    /// - Parameter last: An upper bound of the probe numbers of earlier runners.
    init(for owner: isolated PathWatcher, _ validator: PathValidator, after last: UInt64) throws(EventLoopError) {
        probe = validator.probe
        self.owner = owner
        for family in IPAddress.Family.allCases {
            let timer = try LoopTimer(for: owner) { $0.validationIsDue(family) }
            courses.append(Course(family, timer, ValidationSchedule(validator, after: last)))
        }
    }

    /// Processes the current path.
    func pathIs(_ path: NetworkPath) {
        self.path = path
        for course in courses { perform(course.schedule.wayIs(FamilyWay(path[course.family]), at: .now), course) }
    }

    /// Starts again, because the system has slept.
    func restart() { for course in courses { perform(course.schedule.restart(at: .now), course) } }

    /// Probes soon, because somebody found the network bad.
    func report() { for course in courses { perform(course.schedule.report(at: .now), course) } }

    /// A family's timer has fired.
    func timerFired(_ family: IPAddress.Family) {
        for course in courses where course.family == family {
            perform(course.schedule.timerFired(at: .now), course)
        }
    }

    /// A probe has ended.
    func probeEnded(_ number: UInt64, of family: IPAddress.Family, _ found: PathValidation) {
        for course in courses where course.family == family {
            perform(course.schedule.probeEnded(number, found, at: .now), course)
        }
    }

    /// Writes what is known into a path.
    func annotate(_ path: inout NetworkPath) {
        for course in courses where path[course.family].isAvailable {
            path[course.family].validation = course.schedule.verdict
        }
    }

    /// Cancels running probes.
    func close() { for course in courses { perform(course.schedule.end(), course) } }

    private func perform(_ action: ValidationSchedule.Action, _ course: Course) {
        if action.cancel != nil { course.task?.cancel() }
        if let number = action.start {
            started += 1
            let (probe, family, path) = (probe, course.family, path)
            course.task = Task.detached { [weak owner] in
                let found = await probe(family, path)
                await owner?.probeEnded(number, of: family, found)
            }
        }
        if let wait = action.wait { course.timer.start(after: wait) } else { course.timer.stop() }
    }
}
