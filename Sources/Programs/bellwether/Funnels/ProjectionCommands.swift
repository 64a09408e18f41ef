internal import Clusters
internal import Console
internal import Postgres
internal import Projections
internal import ServiceRuntime

/// Updates the funnels to the end of the log.
struct ProjectCommand: DatabaseCommand {
    static let words = ["project"]
    static let summary = "Update the funnels to the latest event, then exit"
    static let options: [Option<Self>] = [
        Option(
            "once", \.isOnce,
            help: "Exit when they are up to date; required (to keep them so: serve --only project)"),
        Option("lanes", "N", \.lanes, .lanes, help: "Steps at once (default)"),
    ]

    var database = DatabaseChoice()
    private var isOnce = false
    private var lanes = 2

    func check() throws(UsageError) {
        guard isOnce else {
            throw UsageError("use project --once; to keep the funnels up to date, use serve --only project")
        }
    }

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let databases = try access.workplaces(log: log)
        let (lanes, isAlone) = (lanes, databases.count == 1)
        return try databases.work(log: log) { database in
            // Stopped projections are reported below, in a sentence.
            var control = ProjectionControl(url: database.url, log: .silent)
            control.lanes = lanes
            return try Self.project(control, in: database, showing: isAlone)
        }
    }

    private static func project(
        _ control: ProjectionControl, in database: CellDatabase, showing isShown: Bool
    ) throws -> Told {
        // The rules may have changed with an update of this program, and a rebuild after a change of words may be
        // unfinished.
        let bar = ProgressBar()
        let renewal = try AutomaticRebuild(control).run(progress: { if isShown { bar.show($0) } })
        bar.clear()
        var messages = ""
        if case .made(let names, let outcome) = renewal {
            messages = database.labelled(
                "Rebuilt because their rules or the app's words have changed: \(names.joined(separator: ", ")).\n")
            var told = outcome.told(of: database)
            told.messages = messages + told.messages
            guard told.code == .done else { return told }
            messages = told.messages
        }
        let (head, stopped) = try control.catchUp()
        try control.finishZoneChanges()
        guard stopped.isEmpty else {
            return Told(code: .failed, messages: messages + database.labelled(stopped.sentences))
        }
        messages += database.labelled("The funnels are at batch \(head) or later.\n")
        do { try control.keepDays(within: secondsForKeptDays, log: .standardError(least: .warning)) } catch {
            messages += database.labelled(
                "Could not keep the results of busy days, so whoever reads them computes them: \(error)\n")
        }
        return Told(messages: messages)
    }

    private static let secondsForKeptDays: Double = 60
}

/// Restarts a stopped projection.
struct ProjectionResumeCommand: DatabaseCommand {
    static let words = ["projection", "resume"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.names, isRequired: true)]
    static let summary = "Rebuild a stopped projection from the log and restart it"

    var database = DatabaseChoice()
    private var names: [String] = []

    func run() throws -> ExitCode {
        try RebuildRun(database: database) { [names] control, database in
            let stopped = try control.stopped().map(\.name)
            // No projection can continue without deliveries, and rebuilding deliveries rebuilds all of them.
            let wanted = stopped.contains("deliveries") ? stopped : names
            let running = names.filter { !stopped.contains($0) }
            _ = try Rebuild(control, names: names)
            for name in running {
                StandardStream.error.write(database.labelled("\(name) is running; there is nothing to resume.\n"))
            }
            return wanted.filter { !running.contains($0) }
        }.run()
    }
}

/// Rebuilds funnels.
struct RebuildCommand: DatabaseCommand {
    static let words = ["rebuild"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.names)]
    static let summary = "Build funnels again from the log, prove them, and swap them in"
    static let options: [Option<Self>] = [
        Option("lanes", "N", \.lanes, .lanes, help: "Steps at once (default)")
    ]

    var database = DatabaseChoice()
    private var names: [String] = []
    private var lanes = 2

    func run() throws -> ExitCode {
        let names = names.isEmpty ? ["deliveries"] : names
        return try RebuildRun(database: database, lanes: lanes) { _, _ in names }.run()
    }
}

/// A rebuild with its progress bar and final message, in each of the databases that a command works on.
struct RebuildRun {
    let database: DatabaseChoice
    var lanes = 2
    /// Returns the projections to rebuild in a database; an empty list ends the run there.
    let choose: @Sendable (ProjectionControl, CellDatabase) throws -> [String]

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        return try run(in: try access.workplaces(log: log), log: log)
    }

    func run(in databases: [CellDatabase], log: Log) throws -> ExitCode {
        let (lanes, choose, isAlone) = (lanes, choose, databases.count == 1)
        return try databases.work(log: log) { database in
            var control = ProjectionControl(url: database.url, log: log)
            control.lanes = lanes
            let names = try choose(control, database)
            guard !names.isEmpty else { return Told() }
            let bar = ProgressBar()
            let outcome = try Rebuild(control, names: names).run(progress: { if isAlone { bar.show($0) } })
            bar.clear()
            return outcome.told(of: database)
        }
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

extension Rebuild.Completion {
    /// The final message of a rebuild.
    fileprivate func told(of database: CellDatabase) -> Told {
        var told = Told(code: .failed)
        switch self {
        case .swapped(let events, let deliveries, let leftTables):
            told.code = .done
            told.messages = "Rebuilt from \(events) events of \(deliveries) deliveries, proved, and live.\n"
            if leftTables > 0 {
                told.messages +=
                    "Somebody reads old tables of \(leftTables) projections, so they were kept. "
                    + "The next rebuild drops them.\n"
            }
        case .differs(let report, let isSwapped):
            told.output = "\(report)\n"
            told.messages =
                isSwapped
                ? "The new tables are live but do not match the log; the old ones were kept. Please report this.\n"
                : "The new tables do not match the log, so the old ones stay live. Please report this.\n"
        case .stopped(let stopped):
            told.messages =
                stopped.sentences + "The old tables are unchanged. Fix the cause, then run this again.\n"
        }
        (told.output, told.messages) = (database.labelled(told.output), database.labelled(told.messages))
        return told
    }
}

extension [StoppedProjection] {
    /// For people. If deliveries have stopped, all projections have the same message.
    var sentences: String {
        guard let fold = first(where: { $0.name == "deliveries" }) else { return map(\.sentence).joined() }
        return
            "All projections have stopped at batch \(fold.batch): \(String(printable: fold.reason)). "
            + "Fix the cause, then run bellwether rebuild\n"
    }
}

extension StoppedProjection {
    /// For people.
    fileprivate var sentence: String {
        "\(name) has stopped at batch \(batch): \(String(printable: reason)). "
            + "Fix the cause, then run bellwether projection resume \(name)\n"
    }
}
