internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import Registry
internal import ServiceRuntime
internal import Values

/// Registers an experiment, or changes what may still change.
struct ExperimentsCreateCommand: DatabaseCommand {
    static let words = ["experiments", "create"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.name)]
    static let summary = "Register an experiment, which leaves some installs without pushes; prints its salt"
    static let options: [Option<Self>] = [
        .app(\.slug),
        Option(
            "control", "PERCENT", \.share, .share, required: "say how many percent of the installs get no pushes",
            help: "How many percent of the installs are in the control arm, over 0 and under 100"),
        Option(
            "starts", "TIME", \.starts, .time, required: "say when it starts",
            help: "From when on the control arm is left without its pushes"),
        Option("ends", "TIME", \.ends, .time, help: "Until when (default: until somebody ends it)"),
        Option(
            "campaign", "NAME", each: \.campaigns, .text,
            help: "A campaign that the control arm is left without; may be repeated"),
        Option(
            "goal", "NAME", each: \.goals, .text, help: "A goal to judge it by; may be repeated (default: any goal)"),
        Option(
            "salt", "TEXT", \.salt, .text,
            help: "The salt of the arm rule, if the sender has one already (default: a new one)"),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var name = ""
    private var share: ControlShare?
    private var starts: Timestamp?
    private var ends: Timestamp?
    private var campaigns: [String] = []
    private var goals: [String] = []
    private var salt: String?
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        guard let share, let starts else { return .failed }
        let experiment = Experiment(
            name: name, share: share, salt: salt, starts: starts, ends: ends, campaigns: campaigns, goals: goals)
        let shared = try DatabaseAccess.sharing(SharedTables.experiments, database) { connection in
            let app = try Apps.named(slug, on: &connection)
            let outcome = try ExperimentRegistry.register([experiment], of: app.id, on: &connection)
            return (outcome, try ExperimentRegistry.now(on: &connection))
        }
        let registered = try shared.result.0.registered(of: slug)
        for experiment in registered {
            if !experiment.isUnchanged, experiment.version == 1, experiment.starts < shared.result.1 {
                StandardStream.error.write(
                    "warning: it started in the past. It only tells something if the sender left its control arm "
                        + "without the pushes since then, by this salt.\n")
            }
            experiment.show(at: shared.result.1, as: format)
        }
        return shared.exitCode()
    }
}

/// Shows the experiments of an app.
struct ExperimentsListCommand: DatabaseCommand {
    static let words = ["experiments", "list"]
    static let summary = "Show an app's experiments, with the salt by which a sender tells the arms apart"
    static let options: [Option<Self>] = [.app(\.slug), .format(\.format)]

    var database = DatabaseChoice()
    private var slug = ""
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let (experiments, now) = try DatabaseAccess.withConnection(database) { connection in
            let app = try Apps.named(slug, on: &connection)
            return (
                try ExperimentRegistry.list(of: app.id, on: &connection), try ExperimentRegistry.now(on: &connection)
            )
        }
        switch format {
        case .text:
            guard !experiments.isEmpty else {
                StandardStream.error.write(
                    "'\(slug)' has no experiments. To register one: bellwether experiments create --app \(slug) NAME "
                        + "--control PERCENT --starts TIME\n"
                )
                return .done
            }
            var table = TextTable(["EXPERIMENT", "STATE", "CONTROL", "STARTS", "ENDS", "CAMPAIGNS", "GOALS", "SALT"])
            for one in experiments {
                table.add([
                    one.name, one.state(at: now).rawValue, "\(one.control) %", "\(one.starts)",
                    one.ends.map { "\($0)" } ?? "",
                    one.campaigns.joined(separator: ", "),
                    one.goals.isEmpty ? "(any)" : one.goals.joined(separator: ", "), one.salt,
                ])
            }
            StandardStream.output.write(table.text)
        case .json: for one in experiments { one.show(at: now, as: .json) }
        }
        return .done
    }
}

/// Ends an experiment.
struct ExperimentsEndCommand: DatabaseCommand {
    static let words = ["experiments", "end"]
    static let operands: [Operand<Self>] = [Operand("NAME", \.name)]
    static let summary = "End an experiment, now or at a time to come; one that has not started is called off"
    static let options: [Option<Self>] = [
        .app(\.slug), Option("at", "TIME", \.moment, .time, help: "When it ends (default: now)"), .format(\.format),
    ]

    var database = DatabaseChoice()
    private var slug = ""
    private var name = ""
    private var moment: Timestamp?
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let shared = try DatabaseAccess.sharing(SharedTables.experiments, database) { connection in
            let app = try Apps.named(slug, on: &connection)
            let outcome = try ExperimentRegistry.end(name, at: moment, of: app.id, on: &connection)
            return (outcome, try ExperimentRegistry.now(on: &connection))
        }
        guard let outcome = shared.result.0 else {
            throw Failure(
                "'\(slug)' has no experiment '\(String(printable: name))'. To see all: bellwether experiments list "
                    + "--app \(slug)"
            )
        }
        for experiment in try outcome.registered(of: slug) { experiment.show(at: shared.result.1, as: format) }
        return shared.exitCode()
    }
}

extension ExperimentRegistry.Outcome {
    /// What is registered now. Fails with what was refused.
    fileprivate func registered(of slug: String) throws -> [RegisteredExperiment] {
        switch self {
        case .registered(let experiments): return experiments
        case .refused(let remarks):
            let told = remarks.prefix(RegistryLimits.errors).map { "  \(String(printable: $0.description))" }
            throw Failure((["nothing was changed:"] + told).joined(separator: "\n"))
        }
    }
}

extension RegisteredExperiment {
    fileprivate func show(at now: Timestamp, as format: OutputFormat) {
        guard format == .text else { return StandardStream.output.write(json(at: now).json + "\n") }
        let what = isUnchanged ? "unchanged" : "version \(version)"
        let until = ends.map { ", until \($0)" } ?? ""
        let text = """
            Experiment '\(name)', \(what), \(state(at: now).rawValue): \(control) % control, from \(starts)\(until)
            salt: \(salt)

            """
        StandardStream.output.write(text.split(separator: "\n").map { String(printable: String($0)) + "\n" }.joined())
    }
}

extension OptionValue where Value == ControlShare {
    fileprivate static var share: OptionValue {
        OptionValue("a percentage over 0 and under 100") { Double($0).flatMap(ControlShare.init(percent:)) }
    }
}
