internal import Postgres
internal import Telemetry

/// Deliveries by the number of unanswered notifications that they joined, in the same group or in the whole app.
struct StackDepth: Hashable, Sendable {
    enum Scope: String, Hashable, Sendable, CaseIterable { case thread, app }

    var scope: Scope
    /// The depth of the stack including the delivery itself: 1, 2-4, or 5+.
    var bucket: String
    var counts: FunnelCounts

    static let lone = "1"
    static let deep = "5+"

    /// The response in the deepest stacks of the app, and where the notification was alone.
    fileprivate static func extremes(of depths: [StackDepth]) -> (deep: Rate, lone: Rate) {
        func rate(_ bucket: String) -> Rate {
            depths.first { $0.scope == .app && $0.bucket == bucket }?.counts.responseRate ?? Rate(0, of: 0)
        }
        return (rate(deep), rate(lone))
    }

    /// Whether people respond less in deep stacks; nil if there are not both.
    static func cost(of depths: [StackDepth]) -> Significance? {
        let (deep, lone) = extremes(of: depths)
        return deep.whole > 0 && lone.whole > 0 ? TwoProportions.verdict(deep, against: lone) : nil
    }

    fileprivate var words: String {
        let place = scope == .thread ? "in its group" : "in the app"
        return switch bucket {
        case StackDepth.lone: "Alone \(place)"
        case StackDepth.deep: "5 or more \(place)"
        default: "\(bucket.replacing("-", with: " to ")) \(place)"
        }
    }
}

/// Whether people respond less when notifications stack up.
enum StackDepthsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        guard !report.isSealed else { return }
        report.stackDepths = try connection.query(
            """
            SELECT scope, depth_bucket, \(sql: FunnelCounts.sums) FROM analytics.stack_depth_funnel
            WHERE app = \(scope.app) AND day = \(scope.day) GROUP BY scope, depth_bucket
            ORDER BY scope = 'app', depth_bucket COLLATE "C"
            """
        ).map { row throws(PostgresError) -> StackDepth? in
            guard let scope = StackDepth.Scope(rawValue: try row.get(0)) else { return nil }
            return StackDepth(scope: scope, bucket: try row.get(1), counts: try FunnelCounts(row, from: 2))
        }
        .compactMap(\.self)
        report.stackCost = StackDepth.cost(of: report.stackDepths)
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        if var verdict = report.stackCost {
            visit(&verdict)
            report.stackCost = verdict
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard report.stackDepths.contains(where: { $0.bucket != StackDepth.lone }) else { return nil }
        // Without groups, only the stack of the whole app means anything.
        let areGrouped = report.threads.contains { !$0.name.isEmpty }
        let table = Table(
            "By the number of unanswered notifications in the stack",
            of: report.stackDepths.filter { areGrouped || $0.scope == .app }
        ) { depth in
            [
                .text("Stack", depth.words), .count("Delivered", depth.counts.delivered),
                .count("Received", depth.counts.received), .count("Responded", depth.counts.receivedResponded),
                .bar("Response rate", depth.counts.responseRate),
            ]
        }
        let note = Block.sentence(
            "A stack contains the notification itself and the unanswered ones of the 24 hours before it. "
                + "Clearing is never "
                + "reported, so real stacks may be smaller. iOS stacks by group or by app, as the user chooses.", .note)
        return Page.Section("Stack depth", [.table(table)] + comparison(in: report) + [note])
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("stack_depth", report.stackDepths) {
            Entry(keys: [.text("scope", $0.scope.rawValue), .text("depth_bucket", $0.bucket)], facts: $0.counts.facts)
        }
    }

    /// Deep stacks in the app, compared with none. iOS stacks five or more.
    private static func comparison(in report: Report) -> [Block] {
        let (deep, lone) = StackDepth.extremes(of: report.stackDepths)
        guard let now = deep.value, let base = lone.value, let verdict = report.stackCost else { return [] }
        var words =
            "\(Wording.percent(now)) responded in stacks of five or more in the app, and \(Wording.percent(base)) "
            + "where the notification was alone: \(Wording.difference(from: base, to: now)). \(verdict.sentence)"
        if case .lower = verdict {
            words += " People who respond little have deep stacks, and that alone can make such a difference."
        }
        return [.sentence(words, .plain)]
    }
}
