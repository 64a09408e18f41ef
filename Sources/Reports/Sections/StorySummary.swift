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
    /// What is wrong with the pages as they were declared at that time, in their order.
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
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> [StorySummary] {
        var stories = try connection.query(
            """
            SELECT category, campaign, variant, sum(stories)::bigint, sum(started)::bigint, sum(completed)::bigint,
                sum(exit_clicked)::bigint, sum(exit_finished)::bigint, sum(exit_fallback)::bigint, sum(exit_abandoned)::bigint
            FROM analytics.story_funnel WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
            GROUP BY category, campaign, variant
            ORDER BY sum(stories) DESC, category COLLATE "C", campaign COLLATE "C", variant COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            StorySummary(
                category: try row.get(0), campaign: try row.get(1), variant: try row.get(2), stories: try row.get(3),
                started: try row.get(4), completed: try row.get(5),
                exits: Exits(
                    clicked: try row.get(6), finished: try row.get(7), fallback: try row.get(8),
                    abandoned: try row.get(9)))
        }
        // Pages can change from day to day under the same name.
        guard scope.period.length == 1 else { return stories }
        let pages = try readPages(of: stories.prefix(mostWithPages), scope, on: &connection)
        let faults = try readFaults(scope, on: &connection)
        for index in stories.indices {
            let (campaign, variant) = (ExactName(stories[index].campaign), ExactName(stories[index].variant))
            stories[index].pages = pages[[ExactName(stories[index].category), campaign, variant]] ?? []
            stories[index].faults = faults[[campaign, variant]] ?? []
        }
        return stories
    }

    /// Pages are read of so many stories, those that most people saw: an app may have thousands, of a thousand pages each.
    private static let mostWithPages = 50

    /// By category, campaign and variant.
    private static func readPages(
        of stories: ArraySlice<StorySummary>, _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: [Page]] {
        let rows = try connection.query(
            """
            SELECT category, campaign, variant, page_index::integer, planned, reached, shown, views, clicked, exited, dwell_ms,
                dwells, page_title, declared_ms::bigint, auto_advances::bigint, manual_advances::bigint,
                unexplained_advances::bigint
            FROM analytics.story_page_funnel WHERE app = \(scope.app) AND day = \(scope.day)
                AND (category, campaign, variant) IN (
                    SELECT * FROM unnest(
                        \(stories.map(\.category)), \(stories.map(\.campaign)), \(stories.map(\.variant))))
            ORDER BY page_index
            """)
        var pages: [[ExactName]: [Page]] = [:]
        for row in rows {
            let page = Page(
                index: Int(try row.get(3, as: Int32.self)), planned: try row.get(4), reached: try row.get(5),
                shown: try row.get(6), views: try row.get(7), clicked: try row.get(8), exited: try row.get(9),
                dwellMilliseconds: try row.get(10), dwells: try row.get(11), title: try row.optional(12),
                declaredMilliseconds: try row.optional(13), autoAdvances: try row.optional(14) ?? 0,
                manualAdvances: try row.optional(15) ?? 0, unexplainedAdvances: try row.optional(16) ?? 0)
            let story = [ExactName(try row.get(0)), ExactName(try row.get(1)), ExactName(try row.get(2))]
            pages[story, default: []].append(page)
        }
        return pages
    }

    /// By campaign and variant.
    private static func readFaults(
        _ scope: ReportScope, on connection: inout Connection
    ) throws(PostgresError) -> [[ExactName]: [PageFault]] {
        let rows = try connection.query(
            """
            SELECT campaign, variant, declared_index::integer, fault FROM analytics.story_day_pages
            WHERE app = \(scope.app) AND day = \(scope.day) AND fault IS NOT NULL ORDER BY declared_index
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
