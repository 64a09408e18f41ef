internal import Postgres
internal import Telemetry

/// What became of one kind of attachment on one kind of network, over all categories.
struct MediaSummary: Hashable, Sendable {
    var kind: String
    var network: String
    var outcome: String
    var deliveries: Int64
    var responded: Int64

    var responseRate: Rate { Rate(responded, of: deliveries) }
}

/// Deliveries of a category that had media and buttons. iOS shows no more than a thumbnail beside buttons.
struct MediaWithButtons: Hashable, Sendable {
    var category: String
    var deliveries: Int64

    /// The day's categories that have deliveries with media, and buttons: registered or tapped ones.
    fileprivate static func find(in categories: [CategorySummary]) -> [MediaWithButtons] {
        categories.compactMap { category in
            let hasButtons = category.buttons.contains(where: \.isThere) || !category.actions.isEmpty
            guard hasButtons, category.counts.mediaAttached > 0 else { return nil }
            return MediaWithButtons(category: category.name, deliveries: category.counts.mediaAttached)
        }
        .sorted { ($1.deliveries, ExactName($0.category)) < ($0.deliveries, ExactName($1.category)) }
    }
}

/// Whether attachments arrive, and whether they can be seen and heard.
enum MediaSection: ReportSection {
    /// The number of categories that a warning names.
    private static let mostNamed = 4
    private static let none = "(not reported)"

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.mediaWithButtons = MediaWithButtons.find(in: report.categories)
        report.media = try connection.query(
            """
            SELECT kind, network, outcome, sum(deliveries)::bigint, sum(responded)::bigint FROM analytics.media_funnel
            WHERE app = \(scope.app) AND day = \(scope.day)
            GROUP BY kind, network, outcome
            ORDER BY sum(deliveries) DESC, kind COLLATE "C", network COLLATE "C", outcome COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            MediaSummary(
                kind: try row.get(0), network: try row.get(1), outcome: try row.get(2), deliveries: try row.get(3),
                responded: try row.get(4))
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        let blocks = outcomes(report.media) + warnings(report)
        return blocks.isEmpty ? nil : Page.Section("Media", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        [
            .list("media", report.media) {
                Entry(
                    keys: [.text("kind", $0.kind), .text("network", $0.network), .text("outcome", $0.outcome)],
                    facts: [
                        .count("deliveries", $0.deliveries), .count("responded", $0.responded),
                        .number("response_rate", $0.responseRate.value),
                    ])
            },
            .list("media_with_buttons", report.mediaWithButtons) {
                Entry(keys: [.text("category", $0.category)], facts: [.count("deliveries", $0.deliveries)])
            },
        ]
    }

    private static func outcomes(_ media: [MediaSummary]) -> [Block] {
        guard !media.isEmpty else { return [] }
        let table = Table("What became of attachments", of: media, most: 2 * Table.mostRows) { row in
            let kin = media.filter { $0.kind == row.kind && $0.network == row.network }
            let isLost = row.outcome == "timed_out" || row.outcome == "failed"
            return [
                .name("Kind", row.kind, else: none), .name("Network", row.network, else: none),
                .name("Outcome", row.outcome.replacing("_", with: " "), else: none, tone: isLost ? .alarm : .plain),
                .count("Deliveries", row.deliveries),
                .bar("Of its kind", Rate(row.deliveries, of: kin.reduce(0) { $0 + $1.deliveries })),
                .percent("Response rate", row.responseRate),
            ]
        }
        return [.table(table)]
    }

    /// Where iOS shows less than the sender may expect.
    private static func warnings(_ report: Report) -> [Block] {
        var blocks: [Block] = []
        let both = report.mediaWithButtons.reduce(0) { $0 + $1.deliveries }
        if both > 0 {
            let categories = report.mediaWithButtons.prefix(mostNamed).map {
                "\(Wording.name($0.category, else: CategoriesSection.none)) (\(Wording.count($0.deliveries)))"
            }
            let others = report.mediaWithButtons.count - categories.count
            blocks.append(
                .sentence(
                    "\(Wording.count(both, "delivery", "deliveries")) had both media and buttons. Beside buttons, iOS shows media only as a thumbnail: "
                        + categories.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
                        + ". Use one of the two.", .alarm))
        }
        let audio = report.media.filter { $0.kind == "audio" && ["attached", "prefetched"].contains($0.outcome) }
            .reduce(0) { $0 + $1.deliveries }
        if audio > 0 {
            blocks.append(
                .sentence(
                    "\(Wording.count(audio, "delivery", "deliveries")) had audio attached. People hear it only if they press and "
                        + "hold the notification.", .alarm))
        }
        return blocks
    }
}
