internal import Postgres
internal import Reports
internal import Values

/// An experiment: what it means, its arms side by side, and how its answer came about. Without a name, all of an app.
enum ExperimentPage {
    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let app = state.app ?? ""
        guard let name = state.filters[.experiment] else {
            var sight = Sight(
                "Experiments", lead: "What the pushes of \(app) change, found by leaving some installs without.", state,
                nil)
            sight.add("All of them", [.answer(try list(state, on: &connection))])
            return sight
        }
        var sight = Sight(
            name, lead: "Experiment of \(app), from its start to \(Wording.long(scope.days.last)).", state, scope)
        // Whenever it ran.
        let days = CivilDate(daysSince1970: 0)...scope.days.last
        let found = try ExperimentSummary.find(
            of: app, days, timeZone: scope.timeZone, named: name, most: 1, on: &connection)
        guard var experiment = found.first else {
            sight.add(
                "Not found",
                [.words("There is no experiment of this name that had started by then.", .note), links(state)])
            return sight
        }
        let answer = try connection.answer(course(of: experiment, state, scope), for: state)
        let byGoal = Dictionary(grouping: answer.grid.rows) { ExactName($0.text("goal") ?? "") }
        let last = byGoal.values.compactMap(\.last)
        experiment.take(last.compactMap(\.counts).sorted { ExactName($0.goal) < ExactName($1.goal) })
        sight.add(
            "What it means",
            (experiment.findings + experiment.tables).map { .block($0) } + [.words(ExperimentSummary.method, .note)])
        for result in experiment.goals {
            let goal = ExperimentSummary.goal(result.name)
            let rows = byGoal[ExactName(result.name)] ?? []
            sight.add(goal.prefix(1).uppercased() + goal.dropFirst(), [.trends(charts(rows, experiment, scope))])
        }
        let reading =
            "The line is the treated share, the dashed one that of the control arm. Behind them is where the treated "
            + "share could be if the pushes changed nothing: a line that leaves it has found something. The second "
            + "chart shows how the interval narrows."
        sight.add("Night by night", (experiment.goals.isEmpty ? [] : [.words(reading, .note)]) + [.answer(answer)])
        sight.add(
            "How it was set up", [.answer(try connection.answer(versions(state, name), for: state)), links(state)])
        return sight
    }

    private static func links(_ state: PageState) -> Sight.Piece {
        .links([.init(text: "All experiments", address: state.turned(to: .experiment).address)])
    }

    /// Those of an app, the latest first. It says nothing of what they found, which takes a look at each.
    static func list(_ state: PageState, most: Int = 25, on connection: inout Connection) throws(PostgresError)
        -> Answer
    {
        var listing = Listing(
            "experiments", "Experiments, the latest first",
            """
            SELECT experiment, starts_at, ends_at, control, array_to_string(campaigns, ', ') AS campaigns,
                array_to_string(goals, ', ') AS goals
            FROM analytics.experiment_versions WHERE app = \(state.app ?? "") AND is_newest
            ORDER BY starts_at DESC, experiment
            """)
        listing.most = most
        listing.none = "No experiment is registered. To register one: bellwether experiments create."
        listing.link = { row, column in
            guard column == "experiment", let name = row.text("experiment") else { return nil }
            return state.turned(to: .experiment).with([.experiment: name])
        }
        return try connection.answer(listing, for: state)
    }

    private static func versions(_ state: PageState, _ name: String) -> Listing {
        var listing = Listing(
            "versions", "Its versions, the newest first",
            """
            SELECT
                version, control, starts_at, ends_at, array_to_string(campaigns, ', ') AS campaigns,
                array_to_string(goals, ', ') AS goals, salt, registered_at
            FROM analytics.experiment_versions WHERE app = \(state.app ?? "") AND experiment = \(name)
            ORDER BY version DESC
            """)
        listing.none = "No version."
        return listing
    }

    /// What was known at the end of each day, and the interval of that night.
    private static func course(of experiment: ExperimentSummary, _ state: PageState, _ scope: Scope) -> Listing {
        var listing = Listing(
            "days", "By the end of each day",
            """
            SELECT
                goal, day, treated_installs, sum(treated) OVER so_far AS treated_reached,
                round(sum(treated) OVER so_far / nullif(treated_installs, 0), 4) AS treated_rate, control_installs,
                sum(control) OVER so_far AS control_reached,
                round(sum(control) OVER so_far / nullif(control_installs, 0), 4) AS control_rate,
                sum(treated_off) OVER so_far AS treated_turned_off, sum(control_off) OVER so_far AS control_turned_off,
                sum(treated_exposed) OVER so_far AS treated_exposed,
                sum(control_exposed) OVER so_far AS control_exposed,
                goals
            FROM (
                SELECT
                    goal, day, count(*) OVER (PARTITION BY day) AS goals,
                    min(installs) FILTER (WHERE arm = 'treated') AS treated_installs,
                    min(installs) FILTER (WHERE arm = 'control') AS control_installs,
                    sum(reached) FILTER (WHERE arm = 'treated') AS treated,
                    sum(reached) FILTER (WHERE arm = 'control') AS control,
                    sum(turned_off) FILTER (WHERE arm = 'treated') AS treated_off,
                    sum(turned_off) FILTER (WHERE arm = 'control') AS control_off,
                    sum(exposed) FILTER (WHERE arm = 'treated') AS treated_exposed,
                    sum(exposed) FILTER (WHERE arm = 'control') AS control_exposed
                FROM analytics.experiment_days
                WHERE app = \(state.app ?? "") AND experiment = \(experiment.name) AND day <= \(scope.days.last)
                GROUP BY goal, day
            ) AS both_arms
            WINDOW so_far AS (PARTITION BY goal ORDER BY day)
            ORDER BY goal, day
            """)
        listing.most = DayRange.most
        listing.hidden = ["treated_turned_off", "control_turned_off", "treated_exposed", "control_exposed", "goals"]
        listing.added = [
            { row in
                let difference = row.number("treated_rate").flatMap { own in
                    row.number("control_rate").map { own - $0 }
                }
                return ("Difference", Table.Cell(ExperimentSummary.difference(difference)))
            },
            { row in ("95 % interval", Table.Cell(ExperimentSummary.interval(row.interval(of: experiment)))) },
        ]
        return listing
    }

    private static func charts(_ rows: [Grid.Row], _ experiment: ExperimentSummary, _ scope: Scope) -> [Chart] {
        var (reached, widths): ([Chart.Point], [Chart.Point]) = ([], [])
        for row in rows {
            guard let day = row.day("day") else { continue }
            let isOpen = day >= scope.firstOpenDay
            let width = row.interval(of: experiment).map { $0.upperBound - $0.lowerBound }
            var point = Chart.Point(day: day, value: row.number("treated_rate"), isOpen: isOpen)
            point.compared = row.number("control_rate")
            if let width, let base = point.compared { point.usual = max(0, base - width / 2)...(base + width / 2) }
            reached.append(point)
            widths.append(Chart.Point(day: day, value: width, isOpen: isOpen))
        }
        return [
            Chart(title: "Share that reached it", unit: .share, points: reached),
            Chart(title: "Width of the interval", unit: .share, points: widths),
        ]
    }
}

extension Grid.Row {
    /// What a row of the course says of its goal; nil if it cannot be counted.
    fileprivate var counts: ExperimentSummary.Counts? {
        guard let goal = text("goal"), self["treated_installs"] != nil, self["control_installs"] != nil else {
            return nil
        }
        let arms = ExperimentSummary.Arms(
            control: count("control_installs"), treated: count("treated_installs"),
            exposed: (control: count("control_exposed"), treated: count("treated_exposed")),
            turnedOff: (control: count("control_turned_off"), treated: count("treated_turned_off")))
        return (goal, arms, count("treated_reached"), count("control_reached"))
    }

    /// The interval of that night.
    fileprivate func interval(of experiment: ExperimentSummary) -> ClosedRange<Double>? {
        guard let counts else { return nil }
        return ConfidenceSequence.interval(
            treated: Rate(counts.treatedReached, of: counts.arms.treated),
            control: Rate(counts.controlReached, of: counts.arms.control), controlShare: experiment.control / 100,
            error: ConfidenceSequence.error / Double(max(count("goals"), 1)))
    }
}
