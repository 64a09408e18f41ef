package import Postgres
package import Values

/// What an experiment has found by the end of a day: its arms side by side.
package struct ExperimentSummary: Hashable, Sendable {
    package var name: String
    /// In percent, as it was registered.
    package var control: Double
    package var starts: Timestamp
    package var ends: Timestamp?
    package var campaigns: [String] = []
    /// Whether its end has passed.
    package var isOver = false
    /// Nil if retention has dropped events that decide.
    package var arms: Arms?
    package var goals: [GoalResult] = []

    /// What is counted of the arms as a whole.
    package struct Arms: Hashable, Sendable {
        package var control: Int64
        package var treated: Int64
        /// Installs with a receipt of one of the campaigns.
        package var exposedControl: Int64 = 0
        package var exposedTreated: Int64 = 0
        package var turnedOffControl: Int64 = 0
        package var turnedOffTreated: Int64 = 0

        package init(
            control: Int64, treated: Int64, exposed: (control: Int64, treated: Int64) = (0, 0),
            turnedOff: (control: Int64, treated: Int64) = (0, 0)
        ) {
            (self.control, self.treated) = (control, treated)
            (exposedControl, exposedTreated) = exposed
            (turnedOffControl, turnedOffTreated) = turnedOff
        }
    }

    package struct GoalResult: Hashable, Sendable {
        /// '' for any goal.
        package var name: String
        package var treated: Rate
        package var control: Rate
        /// Of treated − control, at once on all nights and for all goals; nil while there are too few.
        package var interval: ClosedRange<Double>?
        /// Of the goals that people reached after they responded to one of its pushes, those within five minutes.
        package var atOnce = Rate(0, of: 0)

        /// Whether the response itself may be what counts as the goal: then the pushes raise it, whatever they are
        /// worth.
        var isOfResponse: Bool { atOnce.whole >= Self.leastAtOnce && atOnce.part * 10 >= atOnce.whole * 9 }
        private static let leastAtOnce: Int64 = 20

        package var difference: Double? {
            guard let own = treated.value, let base = control.value else { return nil }
            return own - base
        }

        /// 1 if the pushes raise it, −1 if they lower it, 0 if nobody can tell.
        package var sign: Int {
            guard let interval else { return 0 }
            return interval.lowerBound > 0 ? 1 : interval.upperBound < 0 ? -1 : 0
        }
    }

    var controlShare: Double { control / 100 }

    /// How probable these sizes of the arms are by chance.
    package var sampleRatio: Double? {
        arms.flatMap {
            SampleRatio.probability(control: $0.control, treated: $0.treated, controlShare: controlShare)
        }
    }

    /// Whether the sizes of the arms cannot be chance: then nothing that they differ in means anything.
    package var isMisdrawn: Bool { sampleRatio.map { $0 < SampleRatio.significance } ?? false }

    /// Whether so many of the control arm got a push that what is found is too small.
    package var isLeaking: Bool {
        arms.map { Double($0.exposedControl) > Self.mostLeakage * Double($0.control) } ?? false
    }
    package static let mostLeakage = 0.01
}

extension ExperimentSummary {
    /// The results of goals that have reached so many in each arm, judged together: each by its part of the 5 %.
    static func judged(
        _ counts: [(goal: String, treated: Rate, control: Rate)], controlShare: Double
    ) -> [GoalResult] {
        counts.map { goal, treated, control in
            GoalResult(
                name: goal, treated: treated, control: control,
                interval: ConfidenceSequence.interval(
                    treated: treated, control: control, controlShare: controlShare,
                    error: ConfidenceSequence.error / Double(max(counts.count, 1))))
        }
    }

    /// The experiments of an app that run on any of these days, or the one with this name; the latest first, at most
    /// `most`. Nothing is counted yet.
    package static func find(
        of app: String, _ days: ClosedRange<CivilDate>, timeZone: String, named name: String? = nil, most: Int64,
        on connection: inout Connection
    ) throws(PostgresError) -> [ExperimentSummary] {
        try connection.query(
            """
            SELECT experiment, control::double precision, starts_at, ends_at, campaigns,
                coalesce(ends_at <= (\(days.upperBound) + 1)::timestamp AT TIME ZONE \(timeZone), false)
            FROM analytics.experiment_versions
            WHERE app = \(app) AND is_newest AND coalesce(experiment = \(name), true)
                AND starts_at < (\(days.upperBound) + 1)::timestamp AT TIME ZONE \(timeZone)
                AND coalesce(
                    ends_at > greatest(starts_at, \(days.lowerBound)::timestamp AT TIME ZONE \(timeZone)), true)
            ORDER BY starts_at DESC, experiment COLLATE "C" LIMIT \(most)
            """
        ).map { row throws(PostgresError) in
            ExperimentSummary(
                name: try row.get(0), control: try row.get(1), starts: try row.get(2), ends: try row.optional(3),
                campaigns: try row.get(4), isOver: try row.get(5))
        }
    }

    /// What was counted of a goal, and of the arms.
    package typealias Counts = (goal: String, arms: Arms, treatedReached: Int64, controlReached: Int64)

    /// Takes what was counted by the end of a day.
    package mutating func take(_ counts: [Counts]) {
        arms = counts.first?.arms
        let rates = counts.map { counts in
            (
                goal: counts.goal, treated: Rate(counts.treatedReached, of: counts.arms.treated),
                control: Rate(counts.controlReached, of: counts.arms.control)
            )
        }
        goals = Self.judged(rates, controlShare: controlShare)
    }

    /// Adds up its days. They cost what one look at all of it does.
    mutating func count(
        of app: String, upTo day: CivilDate, on connection: inout Connection
    ) throws(PostgresError) {
        let rows = try connection.query(
            """
            SELECT
                goal, min(installs) FILTER (WHERE arm = 'treated'), min(installs) FILTER (WHERE arm = 'control'),
                coalesce(sum(reached) FILTER (WHERE arm = 'treated' AND day <= \(day)), 0)::bigint,
                coalesce(sum(reached) FILTER (WHERE arm = 'control' AND day <= \(day)), 0)::bigint,
                coalesce(sum(turned_off) FILTER (WHERE arm = 'treated' AND day <= \(day)), 0)::bigint,
                coalesce(sum(turned_off) FILTER (WHERE arm = 'control' AND day <= \(day)), 0)::bigint,
                coalesce(sum(exposed) FILTER (WHERE arm = 'treated' AND day <= \(day)), 0)::bigint,
                coalesce(sum(exposed) FILTER (WHERE arm = 'control' AND day <= \(day)), 0)::bigint
            FROM analytics.experiment_days WHERE app = \(app) AND experiment = \(name)
            GROUP BY goal ORDER BY goal COLLATE "C"
            """)
        var counts: [Counts] = []
        for row in rows {
            guard let treated: Int64 = try row.optional(1), let control: Int64 = try row.optional(2) else { return }
            let arms = Arms(
                control: control, treated: treated, exposed: (control: try row.get(8), treated: try row.get(7)),
                turnedOff: (control: try row.get(6), treated: try row.get(5)))
            counts.append((try row.get(0), arms, try row.get(3), try row.get(4)))
        }
        take(counts)
    }

    /// How soon its goals followed a response to its pushes, in the last days.
    mutating func readHaste(
        of app: String, upTo day: CivilDate, on connection: inout Connection
    ) throws(PostgresError) {
        guard !campaigns.isEmpty else { return }
        let rows = try connection.query(
            """
            SELECT goal, coalesce(sum(goals) FILTER (WHERE within_minutes = 5), 0)::bigint,
                coalesce(sum(goals) FILTER (WHERE within_minutes = 10080), 0)::bigint
            FROM analytics.goal_times
            WHERE app = \(app) AND day BETWEEN \(day.advanced(by: 1 - Self.daysOfHaste)) AND \(day)
                AND rule = 'response'
                AND campaign = ANY (\(campaigns)) AND within_minutes IN (5, 10080)
            GROUP BY goal
            """)
        var found: [ExactName: Rate] = [:]
        for row in rows { found[ExactName(try row.get(0))] = Rate(try row.get(1), of: try row.get(2)) }
        let all = found.values.reduce(Rate(0, of: 0), +)
        for place in goals.indices {
            let name = goals[place].name
            goals[place].atOnce = name.isEmpty ? all : found[ExactName(name)] ?? Rate(0, of: 0)
        }
    }
    private static let daysOfHaste = 7
}
