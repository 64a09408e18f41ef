internal import Console
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Updates the funnels to the end of the log.
struct ProjectCommand: Command {
    static let words = ["project"]
    static let summary = "Update the funnels to the latest event, then exit"
    static let options = [
        Option("once", help: "Exit when they are up to date; required (to keep them so: serve --only project)"),
        Option("lanes", "N", help: "Steps at once (default 2)"),
    ]

    private let arguments: Arguments
    private let lanes: Int

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard arguments.has("once") else {
            throw UsageError("use project --once; to keep the funnels up to date, use serve --only project")
        }
        lanes = try arguments.number("lanes", in: 1...16, default: 2)
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        // Stopped projections are reported below, in a sentence.
        var control = ProjectionControl(url: access.url, log: .silent)
        control.lanes = lanes
        // After an update of this program, the rules of some projections may have changed.
        let bar = ProgressBar()
        let renewal = try AutomaticRebuild(control).run(progress: bar.show)
        bar.clear()
        if case .made(let names, let outcome) = renewal {
            StandardStream.error.write("Rebuilt because their rules have changed: \(names.joined(separator: ", ")).\n")
            let code = outcome.tell()
            guard code == .done else { return code }
        }
        let (head, stopped) = try control.catchUp()
        try control.finishZoneChanges()
        guard stopped.isEmpty else {
            StandardStream.error.write(stopped.sentences)
            return .failed
        }
        StandardStream.error.write("The funnels are at batch \(head) or later.\n")
        return .done
    }
}

/// Restarts a stopped projection.
struct ProjectionResumeCommand: Command {
    static let words = ["projection", "resume"]
    static let operands = ["NAME…"]
    static let summary = "Rebuild a stopped projection from the log and restart it"

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        try RebuildRun(arguments) { control in
            let stopped = try control.stopped().map(\.name)
            // No projection can continue without deliveries, and rebuilding deliveries rebuilds all of them.
            let wanted = stopped.contains("deliveries") ? stopped : arguments.operands
            let running = arguments.operands.filter { !stopped.contains($0) }
            _ = try Rebuild(control, names: arguments.operands)
            for name in running { StandardStream.error.write("\(name) is running; there is nothing to resume.\n") }
            return wanted.filter { !running.contains($0) }
        }.run()
    }
}

/// Rebuilds funnels.
struct RebuildCommand: Command {
    static let words = ["rebuild"]
    static let operands = ["[NAME…]"]
    static let summary = "Build funnels again from the log, prove them, and swap them in"
    static let options = [Option("lanes", "N", help: "Steps at once (default 2)")]

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    func run() throws -> ExitCode {
        try RebuildRun(arguments) { _ in arguments.operands.isEmpty ? ["deliveries"] : arguments.operands }.run()
    }
}

/// A rebuild with its progress bar and final message.
struct RebuildRun {
    private let arguments: Arguments
    private let choose: (ProjectionControl) throws -> [String]

    /// `choose` returns the projections to rebuild; an empty list ends the run.
    init(_ arguments: Arguments, choosing choose: @escaping (ProjectionControl) throws -> [String]) {
        self.arguments = arguments
        self.choose = choose
    }

    func run() throws -> ExitCode {
        let lanes = try arguments.number("lanes", in: 1...16, default: 2)
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(arguments, log: log)
        defer { access.release() }
        var control = ProjectionControl(url: access.url, log: log)
        control.lanes = lanes
        let names = try choose(control)
        guard !names.isEmpty else { return .done }
        let bar = ProgressBar()
        let outcome = try Rebuild(control, names: names).run(progress: bar.show)
        bar.clear()
        return outcome.tell()
    }
}

extension ProgressBar {
    fileprivate func show(_ phase: Rebuild.Phase) {
        switch phase {
        case .folding(let position, let head):
            show(head == 0 ? 1 : Double(position) / Double(head), "folding: batch \(position) of \(head)")
        case .verifying(let shard, let count):
            show(Double(shard) / Double(count), "verifying: shard \(shard) of \(count)")
        case .swapping: show(1, "swapping")
        }
    }
}

extension Rebuild.Outcome {
    /// Prints the final message of a rebuild.
    fileprivate func tell() -> ExitCode {
        switch self {
        case .swapped(let events, let deliveries, let leftTables):
            StandardStream.error.write(
                "Rebuilt from \(events) events of \(deliveries) deliveries, proved, and live.\n")
            if leftTables > 0 {
                StandardStream.error.write(
                    "Somebody reads old tables of \(leftTables) projections, so they were kept. The next rebuild drops them.\n"
                )
            }
            return .done
        case .differs(let report, let isSwapped):
            StandardStream.output.write("\(report)\n")
            StandardStream.error.write(
                isSwapped
                    ? "The new tables are live but do not match the log; the old ones were kept. Please report this.\n"
                    : "The new tables do not match the log, so the old ones stay live. Please report this.\n")
            return .failed
        case .stopped(let stopped):
            StandardStream.error.write(stopped.sentences)
            StandardStream.error.write("The old tables are unchanged. Fix the cause, then run this again.\n")
            return .failed
        }
    }
}

extension [StoppedProjection] {
    /// For people. If deliveries have stopped, all projections have the same message.
    fileprivate var sentences: String {
        guard let fold = first(where: { $0.name == "deliveries" }) else { return map(\.sentence).joined() }
        return
            "All projections have stopped at batch \(fold.batch): \(String(printable: fold.reason)). Fix the cause, then run bellwether rebuild\n"
    }
}

extension StoppedProjection {
    /// For people.
    fileprivate var sentence: String {
        "\(name) has stopped at batch \(batch): \(String(printable: reason)). Fix the cause, then run bellwether projection resume \(name)\n"
    }
}
