internal import Postgres
internal import Values

/// The experiments that run on the day: what they mean first, then their arms.
enum ExperimentsSection: ReportSection {
    /// Each is counted from the log, which takes seconds for millions of installs.
    private static let most: Int64 = 10

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let running = try ExperimentSummary.find(
            of: scope.app, scope.period.days, timeZone: scope.timeZone, most: most, on: &connection)
        for var experiment in running {
            try experiment.count(of: scope.app, upTo: scope.day, on: &connection)
            try experiment.readHaste(of: scope.app, upTo: scope.day, on: &connection)
            report.experiments.append(experiment)
        }
    }

    static let title = "Experiments"

    static func deeds(_ report: Report) -> [Deed] {
        report.experiments.compactMap { experiment in
            guard let arms = experiment.arms, experiment.isMisdrawn || experiment.isLeaking else { return nil }
            let (ask, why) =
                experiment.isMisdrawn
                ? (
                    "Find out what experiment \(experiment.name) loses",
                    "\(Wording.percent(Rate(arms.control, of: arms.control + arms.treated))) of its installs are in "
                        + "the control arm instead of \(Wording.percent(experiment.controlShare))"
                )
                : (
                    "Keep the pushes of experiment \(experiment.name) from its control arm",
                    "\(Wording.percent(Rate(arms.exposedControl, of: arms.control))) of it got one"
                )
            return Deed(
                urgency: .broken, deliveries: experiment.isMisdrawn ? arms.control : arms.exposedControl, ask: ask,
                why: why, section: title, subject: .everything)
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.experiments.isEmpty else { return nil }
        let blocks = report.experiments.flatMap { $0.findings + $0.tables }
        return Page.Section(title, blocks + [.sentence(ExperimentSummary.method, .note)])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("experiments", report.experiments) { experiment in
            Entry(
                keys: [.text("experiment", experiment.name)],
                facts: [
                    .number("control", experiment.control), .text("starts_at", "\(experiment.starts)"),
                    .text("ends_at", experiment.ends.map { "\($0)" }), .texts("campaigns", experiment.campaigns),
                    .count("control_installs", experiment.arms?.control),
                    .count("treated_installs", experiment.arms?.treated),
                    .number("sample_ratio_p", experiment.sampleRatio), .flag("misdrawn", experiment.isMisdrawn),
                    .count("control_exposed", experiment.arms?.exposedControl),
                    .count("treated_exposed", experiment.arms?.exposedTreated), .flag("leaking", experiment.isLeaking),
                    .count("control_turned_off", experiment.arms?.turnedOffControl),
                    .count("treated_turned_off", experiment.arms?.turnedOffTreated),
                ],
                lists: .list("goals", experiment.goals) { result in
                    Entry(
                        keys: [.text("goal", result.name)],
                        facts: [
                            .count("control_reached", result.control.part),
                            .count("treated_reached", result.treated.part), .number("difference", result.difference),
                            .number("difference_low", result.interval?.lowerBound),
                            .number("difference_high", result.interval?.upperBound),
                            .count("effect", Int64(result.sign)),
                            .count("after_response", result.atOnce.whole),
                            .count("after_response_5min", result.atOnce.part),
                        ])
                })
        }
    }
}

extension ExperimentSummary {
    /// The arms side by side.
    package var tables: [Block] {
        guard let arms, !goals.isEmpty else { return [] }
        func row(_ what: String, _ treated: Int64, _ control: Int64, _ difference: String, _ interval: String) -> [Table
            .Cell]
        {
            func cell(_ part: Int64, _ whole: Int64) -> Table.Cell {
                Table.Cell("\(Wording.count(part)) · \(Wording.percent(Rate(part, of: whole)))")
            }
            return [
                Table.Cell(what), cell(treated, arms.treated), cell(control, arms.control), Table.Cell(difference),
                Table.Cell(interval),
            ]
        }
        let results = goals.map { result in
            row(
                "Reached \(Self.goal(result.name))", result.treated.part, result.control.part,
                isMisdrawn ? "–" : Self.difference(result.difference), isMisdrawn ? "–" : Self.interval(result.interval)
            )
        }
        let others = [
            row("Turned notifications off", arms.turnedOffTreated, arms.turnedOffControl, "", ""),
            row("Got one of the pushes", arms.exposedTreated, arms.exposedControl, "", ""),
        ]
        return [
            .table(
                Table(
                    "\(name): of \(Wording.count(arms.treated)) treated and \(Wording.count(arms.control)) control "
                        + "installs",
                    columns: [
                        .name("Installs that"), .number("Treated"), .number("Control"), .number("Difference"),
                        .number("95 % interval"),
                    ], rows: results + (campaigns.isEmpty ? Array(others.prefix(1)) : others)))
        ]
    }
}
