import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import TestSupport
import Testing

/// All funnels as an analyst sees them in one snapshot: a line for each row of each view, in order.
struct FunnelViews: Equatable, Sendable {
    let lines: [String]

    /// Of these apps alone, or of all. Those that are sums: all that retention must not change.
    init(of apps: [String]? = nil, on connection: inout Connection) throws {
        let query = Funnels.kinds.filter { $0.view != DeliveryRow.view }.map { kind in
            "SELECT '\(kind.view) ' || \(kind.view)::text FROM \(kind.source) WHERE $1 IS NULL OR app = ANY ($1)"
        }.joined(separator: " UNION ALL ")
        lines = try connection.query(Statement("\(query) ORDER BY 1", [.init(apps)])).map { try $0.get(0) }
    }

    /// What differs from these rows in others, a line for each.
    func differences(in others: FunnelViews) -> [String] {
        let (old, new) = (Set(lines), Set(others.lines))
        return old.subtracting(new).sorted().map { "gone: \($0)" } + new.subtracting(old).sorted().map { "new: \($0)" }
    }

    /// The laws of the contract that the funnels and deliveries of one snapshot break, a line for each row. Funnels with
    /// sealed parts stand on more than the deliveries show: of those, only what needs no deliveries is asked.
    static func brokenLaws(hasSealed: Bool = false, on connection: inout Connection) throws -> [String] {
        let counted = TallyTable.ofDeliveryCounts.map { table in
            (table.name, table.keys.map(\.name).joined(separator: ", "))
        }
        var queries = counted.map { view, _ in
            """
            SELECT '\(view) breaks a law: ' || f::text FROM analytics.\(view) AS f
            WHERE delivered <> received + inferred OR inferred < 0 OR received_responded > least(received, responded)
                OR responded < greatest(opened, action_tapped, story_action_tapped) OR suppressed > unanswered
                OR unanswered < 0 OR delivered < responded + unanswered
                OR least(expanded, opened, action_tapped, story_action_tapped, dismissed, media_attached) < 0
            """
        }
        queries.append(
            """
            SELECT 'story_funnel breaks a law: ' || f::text FROM analytics.story_funnel AS f
            WHERE stories <> exit_clicked + exit_finished + exit_fallback + exit_abandoned OR started > stories
            """)
        queries.append(
            """
            SELECT 'story_page_funnel breaks a law: ' || f::text FROM (
                SELECT *, lead(planned) OVER story AS next_planned, lead(reached) OVER story AS next_reached
                FROM analytics.story_page_funnel
                WINDOW story AS (PARTITION BY app, day, category, campaign ORDER BY page_index)
            ) AS f WHERE planned < reached OR reached < shown OR next_planned > planned OR next_reached > reached OR exited < 0
            """)
        queries.append(
            """
            SELECT 'story_page_advances break a law: ' || f::text FROM \(StoryPageAdvances.source)
            JOIN analytics.story_page_funnel AS f USING (app, day, category, campaign, page_index)
            LEFT JOIN (
                SELECT app, day, category, campaign, page_index, sum(advances) AS untold FROM \(StoryPageGaps.source)
                GROUP BY app, day, category, campaign, page_index
            ) AS g USING (app, day, category, campaign, page_index)
            WHERE story_page_advances.auto_advances + story_page_advances.manual_advances + coalesce(untold, 0) > dwells
                OR dwells > views OR least(story_page_advances.auto_advances, story_page_advances.manual_advances, untold) < 0
            """)
        queries.append(
            """
            SELECT 'category_exposures break a law: ' || coalesce(f::text, category_exposures::text) FROM analytics.category_funnel AS f
            FULL JOIN \(CategoryExposures.source) USING (app, day, category)
            WHERE (coalesce(exposed, 0) BETWEEN greatest(expanded, action_tapped) AND expanded + action_tapped) IS NOT TRUE
            """)
        if !hasSealed {
            queries += counted.map { view, key in
                """
                SELECT '\(view) has other deliveries than are behind it: ' || f::text || d::text
                FROM analytics.\(view) AS f
                FULL JOIN (
                    SELECT app, day, \(key), count(*) AS delivered, count(*) FILTER (WHERE received) AS received,
                        count(*) FILTER (WHERE responded) AS responded, count(*) FILTER (WHERE unanswered) AS unanswered
                    FROM analytics.deliveries WHERE NOT silent GROUP BY app, day, \(key)
                ) AS d USING (app, day, \(key))
                WHERE (f.delivered, f.received, f.responded, f.unanswered)
                    IS DISTINCT FROM (d.delivered, d.received, d.responded, d.unanswered)
                """
            }
            queries.append(
                """
                SELECT 'story_page_funnel has other exits than are behind it: ' || f::text || d::text
                FROM (
                    SELECT app, day, category, campaign, sum(exited) AS exited FROM analytics.story_page_funnel
                    GROUP BY app, day, category, campaign HAVING sum(exited) > 0
                ) AS f
                FULL JOIN (
                    SELECT app, day, category, campaign, count(*) AS exited FROM analytics.deliveries
                    WHERE story_exit = 'abandoned' AND furthest IS NOT NULL GROUP BY app, day, category, campaign
                ) AS d USING (app, day, category, campaign)
                WHERE f.exited IS DISTINCT FROM d.exited
                """)
        }
        return try connection.query(Statement(queries.joined(separator: " UNION ALL "))).map { try $0.get(0) }
    }
}

extension TallyTable {
    /// Those of all projectors that count what became of deliveries.
    static let ofDeliveryCounts = Projectors.all.flatMap { $0.tables }.filter {
        $0.counts.contains("received_responded")
    }
}

/// Looks at a database again and again, each time in one snapshot, while something else goes on.
final class Onlooker: Sendable {
    private struct State {
        var looks = 0
        var complaints: [String] = []
        var isEnding = false
    }

    private let state = Lock(State())
    private let thread: Worker

    /// `look` says what it does not like. Returns after the first look.
    init(
        _ database: TestDatabase, _ look: @escaping @Sendable (inout Connection) throws -> [String]
    ) {
        let state = self.state
        thread = Worker(name: "onlooker") {
            do {
                var connection = try database.connect()
                while !state.withLock({ $0.isEnding }) {
                    connection.deadline = .after(seconds: 30)
                    let complaints = try connection.transaction(
                        .repeatableReadOnly, failingWith: (any Error).self, look)
                    state.withLockNotifying { state in
                        state.looks += 1
                        state.complaints += complaints
                    }
                }
            } catch { state.withLockNotifying { $0.complaints.append("\(error)") } }
        }
        _ = state.wait(until: .after(seconds: 60)) { $0.looks > 0 || !$0.complaints.isEmpty ? true : nil }
    }

    /// Ends it: it must have looked after the beginning, and liked all that it saw.
    func expectContent(sourceLocation: SourceLocation = #_sourceLocation) {
        let before = state.withLock { $0.looks }
        let hasLooked = state.wait(until: .after(seconds: 60)) {
            $0.looks > before || !$0.complaints.isEmpty ? true : nil
        }
        state.withLock { $0.isEnding = true }
        thread.join()
        let complaints = state.withLock { $0.complaints }
        #expect(hasLooked == true, sourceLocation: sourceLocation)
        #expect(
            complaints.isEmpty, "\(complaints.count): \(complaints.prefix(3).joined(separator: "; "))",
            sourceLocation: sourceLocation)
    }
}
