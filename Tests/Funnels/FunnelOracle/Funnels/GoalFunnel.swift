internal import Telemetry
package import Values

/// **Goal funnel**, one row per (app, day, category, campaign, variant, goal, currency, rule): what was reached after
/// notifications within an hour, a day and a week.
package struct GoalFunnel: FunnelRow {
    package let group: Group
    package let windows: [Window]

    /// What a row counts.
    package struct Group: Hashable, Sendable {
        package let app: Label
        package let day: CivilDate
        package let words: [Label]
        package let received: Int
        package let responded: Int
    }

    /// What was reached in time.
    package struct Window: Hashable, Sendable {
        package let converted: Int
        package let goals: Int
        /// In millionths.
        package let value: Int64
    }

    package static let view = "goal_funnel"

    static let wordColumns = ["category", "campaign", "variant", "goal", "currency", "rule"]

    package static var keyColumns: [Column<GoalFunnel>] {
        Group.keyColumns.map { $0.within(\.group) }
    }

    package static var numberColumns: [Column<GoalFunnel>] {
        Group.numberColumns.map { $0.within(\.group) }
            + ["1h", "24h", "7d"].enumerated().flatMap { place, name in
                [
                    Column<GoalFunnel>("converted_\(name)") { .number(Int64($0.windows[place].converted)) },
                    Column("goals_\(name)") { .number(Int64($0.windows[place].goals)) },
                    Column("value_\(name)") { .text(Label(decimal($0.windows[place].value))) },
                ]
            }
    }

    /// Of the three windows, in minutes.
    package static func rows(of deliveries: [Delivery], _ days: [InstallDay]) -> [GoalFunnel] {
        GoalGroup.all(of: deliveries, days).map { group in
            GoalFunnel(group: group.group, windows: [60, 1_440, 10_080].map(group.window))
        }
        .filter { $0.windows[2].goals > 0 }
        .sortedByKey()
    }

    /// Millionths as PostgreSQL shows them.
    static func decimal(_ millionths: Int64) -> String {
        let (whole, rest) = millionths.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(rest)
        return "\(whole).\(String(repeating: "0", count: 6 - digits.count))\(digits)"
    }
}

/// **Goal times**, the same within each of eleven times.
package struct GoalTimes: FunnelRow {
    package let group: GoalFunnel.Group
    package let minutes: Int
    package let window: GoalFunnel.Window

    package static let view = "goal_times"

    package static var keyColumns: [Column<GoalTimes>] {
        GoalFunnel.Group.keyColumns.map { $0.within(\.group) } + [Column("within_minutes", \.minutes)]
    }

    package static var numberColumns: [Column<GoalTimes>] {
        GoalFunnel.Group.numberColumns.map { $0.within(\.group) } + [
            Column("converted") { .number(Int64($0.window.converted)) },
            Column("goals") { .number(Int64($0.window.goals)) },
            Column("value") { .text(Label(GoalFunnel.decimal($0.window.value))) },
        ]
    }

    package static func rows(of deliveries: [Delivery], _ days: [InstallDay]) -> [GoalTimes] {
        GoalGroup.all(of: deliveries, days).flatMap { group in
            [5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 4_320, 10_080].map { minutes in
                GoalTimes(group: group.group, minutes: minutes, window: group.window(minutes))
            }
        }
        .filter { $0.window.goals > 0 }
        .sortedByKey()
    }
}

extension GoalFunnel.Group {
    static var keyColumns: [Column<GoalFunnel.Group>] {
        [Column("app", \.app), Column("day") { .day($0.day) }]
            + GoalFunnel.wordColumns.enumerated().map { place, name in Column(name) { .text($0.words[place]) } }
    }

    static var numberColumns: [Column<GoalFunnel.Group>] {
        [Column("received", \.received), Column("responded", \.responded)]
    }
}

/// The goals of one row, each with its delivery and how long it took.
private struct GoalGroup {
    let group: GoalFunnel.Group
    var reached: [Reached] = []

    struct Reached {
        let delivery: Delivery.Name
        let elapsed: Int64
        let value: Int64
    }

    func window(_ minutes: Int) -> GoalFunnel.Window {
        let inTime = reached.filter { $0.elapsed <= Int64(minutes) * 60_000_000 }
        return GoalFunnel.Window(
            converted: Set(inTime.map(\.delivery)).count, goals: inTime.count,
            value: inTime.reduce(0) { $0 + $1.value })
    }

    static func all(of deliveries: [Delivery], _ days: [InstallDay]) -> [GoalGroup] {
        let visible = deliveries.filter { !$0.facts.silent }
        let alike = Dictionary(grouping: visible, by: place)
        let goals = AttributedGoal.all(in: days)
        var groups: [[Label]: GoalGroup] = [:]
        for rule in ["response", "receipt"] as [Label] {
            var byDelivery: [Delivery.Name: [(goal: AttributedGoal, at: Timestamp?)]] = [:]
            for goal in goals {
                guard let latest = rule == "response" ? goal.response : goal.receipt else { continue }
                let name = Delivery.Name(
                    app: goal.app, install: goal.event.source.installID, notificationKey: latest.notificationKey)
                byDelivery[name, default: []].append((goal, latest.at))
            }
            for delivery in visible {
                let last = (byDelivery[delivery.name] ?? [])
                    .sorted { EventOrder.precedes($0.goal.event, $1.goal.event) }.suffix(1_000)
                for (goal, at) in last {
                    guard let reached = goal.goal else { continue }
                    let since = at ?? (rule == "response" ? delivery.facts.firstResponseAt : delivery.facts.receivedAt)
                    let place = place(of: delivery)
                    let words: [Label] =
                        place.dropFirst(2) + [Label(reached.name), Label(reached.currency ?? ""), rule]
                    let others = alike[place] ?? []
                    let empty = GoalGroup(
                        group: .init(
                            app: delivery.name.app, day: delivery.facts.day, words: words,
                            received: others.count { $0.facts.received },
                            responded: others.count { $0.facts.responded }))
                    groups[Array(place.prefix(2)) + words, default: empty].reached.append(
                        Reached(
                            delivery: delivery.name, elapsed: since.map { max(0, goal.event.occurredAt - $0) } ?? 0,
                            value: reached.value ?? 0))
                }
            }
        }
        return Array(groups.values)
    }

    /// What deliveries of one row have in common.
    private static func place(of delivery: Delivery) -> [Label] {
        let facts = delivery.facts
        return [
            delivery.name.app, Label(facts.day.description), facts.category, facts.campaign, facts.variant,
        ]
    }
}
