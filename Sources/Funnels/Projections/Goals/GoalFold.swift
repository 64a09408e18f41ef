internal import Postgres
internal import Telemetry
internal import Values

/// What steps do about goals: they store receipts, responses and goals of apps that reach any, and find out for which
/// deliveries each goal counts. These then change like deliveries with new events.
enum GoalFold {
    /// What deliveries had counted for before they lost or gained a goal. A delivery may have no event yet.
    typealias Former = [Delivery.Name: DeliveryGoals]

    /// Takes a step's news. What is of sealed deliveries leads to nothing.
    static func take(
        _ news: GoalNews?, except sealed: Set<Delivery.Name>, in table: GoalTable, on connection: inout Connection
    ) throws(PostgresError) -> Former {
        guard let news else { return [:] }
        let touches = news.touches.filter { !sealed.contains($0.delivery) }
        try table.insert(touches, on: &connection)
        try table.insert(news.goals, on: &connection)
        let surplus = try table.surplus(on: days(of: news.goals), on: &connection)
        let beyond = Set(surplus.map(\.place))
        let changes =
            try surplus
            + table.changes(in: spans(of: touches, news.goals), on: &connection).filter { !beyond.contains($0.place) }
        guard !changes.isEmpty else { return [:] }
        let names = Array(Set(changes.flatMap(\.deliveries)))
        let credits = try table.credits(of: names, on: &connection)
        try table.apply(changes, on: &connection)
        return names.reduce(into: [:]) { $0[$1] = DeliveryGoals(credits[$1] ?? []) }
    }

    /// The days (UTC) on which goals were reached.
    private static func days(of goals: [ReachedGoal]) -> [GoalTable.Span] {
        let day: Int64 = 86_400_000_000
        var known: Set<[UInt64]> = []
        return goals.compactMap { goal in
            let at = goal.moment.occurredAt.microseconds
            let remainder = at % day
            let start = at - (remainder < 0 ? remainder + day : remainder)
            let name = [
                UInt64(bitPattern: start), goal.install.high, goal.install.low, UInt64(UInt32(bitPattern: goal.app)),
            ]
            guard known.insert(name).inserted else { return nil }
            return GoalTable.Span(
                app: goal.app, shard: goal.shard, install: goal.install, first: Timestamp(microseconds: start),
                last: Timestamp(microseconds: start + day - 1))
        }
    }

    /// The times in which goals may count for something else now. Spans of one install do not overlap.
    private static func spans(of touches: [GoalTouch], _ goals: [ReachedGoal]) -> [GoalTable.Span] {
        var spans = touches.map { touch in
            let at = touch.moment.occurredAt
            return GoalTable.Span(
                app: touch.delivery.app, shard: touch.delivery.shard, install: touch.delivery.install, first: at,
                last: at + DeliveryGoals.reach)
        }
        spans += goals.map { goal in
            GoalTable.Span(
                app: goal.app, shard: goal.shard, install: goal.install, first: goal.moment.occurredAt,
                last: goal.moment.occurredAt)
        }
        spans.sort { ($0.app, $0.install, $0.first) < ($1.app, $1.install, $1.first) }
        var merged: [GoalTable.Span] = []
        for span in spans {
            guard let last = merged.last, last.app == span.app, last.install == span.install, span.first <= last.last
            else {
                merged.append(span)
                continue
            }
            merged[merged.count - 1].last = max(last.last, span.last)
        }
        return merged
    }
}
