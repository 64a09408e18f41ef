internal import Postgres
internal import Telemetry

/// The stories of one category, campaign and variant on the day.
struct StorySummary: Hashable, Sendable {
    var category: String
    var campaign: String
    /// '' for none.
    var variant = ""
    var stories: Int64
    var started: Int64
    var completed: Int64
    var exits: Exits
    var pages: [Page] = []
    /// Of the pages after those; nil if there are none.
    var otherPages: RestOfList<Page>?
    /// What is wrong with the first pages as they were declared at that time, in their order.
    var faults: [PageFault] = []

    var completionRate: Rate { Rate(completed, of: started) }

    struct Exits: Hashable, Sendable {
        var clicked: Int64
        var finished: Int64
        var fallback: Int64
        var abandoned: Int64
    }

    struct Page: Hashable, Sendable {
        /// From 0.
        var index: Int
        var planned: Int64
        var reached: Int64
        var shown: Int64
        var views: Int64
        var clicked: Int64
        var exited: Int64
        var dwellMilliseconds: Int64
        var dwells: Int64
        /// Title and duration as they were declared at that time.
        var title: String?
        var declaredMilliseconds: Int64?
        /// How often the next page came by itself, how often somebody moved on to it, and how often neither is known.
        var autoAdvances: Int64 = 0
        var manualAdvances: Int64 = 0
        var unexplainedAdvances: Int64 = 0

        var clickRate: Rate { Rate(clicked, of: shown) }
        /// The automatic share of the advances whose cause is known.
        var autoRate: Rate { Rate(autoAdvances, of: autoAdvances + manualAdvances) }
        var meanDwellSeconds: Double? { dwells == 0 ? nil : Double(dwellMilliseconds) / Double(dwells) / 1000 }
    }

    /// A page that was sent with a mistake.
    struct PageFault: Hashable, Sendable {
        /// From 0, among the pages as sent. Those without an image are not shown.
        var declaredIndex: Int
        var kind: Kind

        /// As `analytics.story_day_pages` says it.
        enum Kind: String, Hashable, Sendable, CaseIterable {
            case noImage = "no_image"
            case invalidLink = "invalid_link"
            case buttonWithoutLink = "button_without_link"
            case linkWithoutButton = "link_without_button"
        }
    }
}

extension StorySummary {
    static func read(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> (listed: [StorySummary], rest: RestOfList<StorySummary>?) {
        let most = scope.bound.entries
        var (stories, rest) = try connection.query(
            """
            SELECT
                min(category COLLATE "C"), min(campaign COLLATE "C"), min(variant COLLATE "C"), sum(stories)::bigint,
                sum(started)::bigint, sum(completed)::bigint, sum(clicked)::bigint, sum(finished)::bigint,
                sum(fallback)::bigint, sum(abandoned)::bigint, count(*) FILTER (WHERE place > \(most))
            FROM (
                SELECT
                    category, campaign, variant, sum(stories) AS stories, sum(started) AS started,
                    sum(completed) AS completed,
                    sum(exit_clicked) AS clicked, sum(exit_finished) AS finished, sum(exit_fallback) AS fallback,
                    sum(exit_abandoned) AS abandoned,
                    least(
                        row_number() OVER (ORDER BY sum(stories) DESC, category COLLATE "C", campaign COLLATE "C",
                            variant COLLATE "C"), \(most) + 1) AS place
                FROM analytics.story_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
                GROUP BY category, campaign, variant
            ) AS ranked
            GROUP BY place ORDER BY place
            """
        ).listed(leftOut: 10) { row throws(PostgresError) in
            StorySummary(
                category: try row.get(0), campaign: try row.get(1), variant: try row.get(2), stories: try row.get(3),
                started: try row.get(4), completed: try row.get(5),
                exits: Exits(
                    clicked: try row.get(6), finished: try row.get(7), fallback: try row.get(8),
                    abandoned: try row.get(9)))
        }
        // Pages can change from day to day under the same name.
        guard scope.period.length == 1 else { return (stories, rest) }
        let pages = try readPages(of: stories.prefix(mostWithPages), scope, on: &connection)
        let faults = try readFaults(of: stories, scope, on: &connection)
        for index in stories.indices {
            let (campaign, variant) = (ExactName(stories[index].campaign), ExactName(stories[index].variant))
            let own = pages[[ExactName(stories[index].category), campaign, variant]]
            (stories[index].pages, stories[index].otherPages) = (own?.listed ?? [], own?.rest)
            stories[index].faults = faults[[campaign, variant]] ?? []
        }
        return (stories, rest)
    }

    /// Pages are read of so many stories, those that most people saw: an app may have thousands, of a thousand pages
    /// each.
    private static let mostWithPages = 50

    /// By category, campaign and variant.
    private static func readPages(
        of stories: ArraySlice<StorySummary>, _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: BoundList<Page>] {
        let most = scope.bound.parts
        let rows = try connection.query(
            """
            SELECT category, campaign, variant, min(page_index)::integer, sum(planned)::bigint, sum(reached)::bigint,
                sum(shown)::bigint, sum(views)::bigint, sum(clicked)::bigint, sum(exited)::bigint,
                sum(dwell_ms)::bigint,
                sum(dwells)::bigint, min(page_title), min(declared_ms)::bigint, sum(auto_advances)::bigint,
                sum(manual_advances)::bigint, sum(unexplained_advances)::bigint,
                count(*) FILTER (WHERE page_index >= \(most))
            FROM analytics.story_page_funnel WHERE app = \(scope.app) AND day = \(scope.day)
                AND (category, campaign, variant) IN (
                    SELECT * FROM unnest(
                        \(stories.map(\.category)), \(stories.map(\.campaign)), \(stories.map(\.variant))))
            GROUP BY category, campaign, variant, least(page_index, \(most)) ORDER BY min(page_index)
            """)
        var pages: [[ExactName]: BoundList<Page>] = [:]
        for row in rows {
            let page = Page(
                index: Int(try row.get(3, as: Int32.self)), planned: try row.get(4), reached: try row.get(5),
                shown: try row.get(6), views: try row.get(7), clicked: try row.get(8), exited: try row.get(9),
                dwellMilliseconds: try row.get(10), dwells: try row.get(11), title: try row.optional(12),
                declaredMilliseconds: try row.optional(13), autoAdvances: try row.optional(14) ?? 0,
                manualAdvances: try row.optional(15) ?? 0, unexplainedAdvances: try row.optional(16) ?? 0)
            let story = [ExactName(try row.get(0)), ExactName(try row.get(1)), ExactName(try row.get(2))]
            pages[story, default: BoundList()].append(page, leftOut: try row.get(17))
        }
        return pages
    }

    /// By campaign and variant.
    private static func readFaults(
        of stories: [StorySummary], _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: [PageFault]] {
        let rows = try connection.query(
            """
            SELECT campaign, variant, declared_index::integer, fault FROM analytics.story_day_pages
            WHERE app = \(scope.app) AND day = \(scope.day) AND fault IS NOT NULL
                AND declared_index < \(scope.bound.parts)
                AND (campaign, variant) IN (
                    SELECT * FROM unnest(\(stories.map(\.campaign)), \(stories.map(\.variant))))
            ORDER BY declared_index
            """)
        var faults: [[ExactName]: [PageFault]] = [:]
        for row in rows {
            guard let kind = PageFault.Kind(rawValue: try row.get(3)) else { continue }
            faults[[ExactName(try row.get(0)), ExactName(try row.get(1))], default: []].append(
                PageFault(declaredIndex: Int(try row.get(2, as: Int32.self)), kind: kind))
        }
        return faults
    }
}
