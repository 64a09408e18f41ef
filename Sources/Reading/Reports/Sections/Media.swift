internal import Postgres
internal import Telemetry

/// What became of one kind of attachment on one kind of network, over all categories.
struct MediaSummary: Hashable, Sendable {
    var kind: String
    var network: String
    var outcome: String
    var deliveries: Int64
    var responded: Int64
    var bytes: Int64 = 0
    var milliseconds: Int64 = 0
    /// Deliveries of which it is known how long the download took.
    var timed: Int64 = 0

    /// All of these deliveries have a receipt: only receipts give an outcome.
    var responseRate: Rate { Rate(responded, of: deliveries) }
    var meanSeconds: Double? { timed == 0 ? nil : Double(milliseconds) / Double(timed) / 1000 }

    var isAttached: Bool { outcome == "attached" || outcome == "prefetched" }
    /// There was an attachment to load, and people did not get to see it.
    var isMissing: Bool { ["timed_out", "failed", "skipped"].contains(outcome) }
}

/// What it costs when an attachment is missing: the response with and without it.
struct MediaCost: Hashable, Sendable {
    var missing: Rate
    var attached: Rate
    var verdict: Significance

    /// Nil if nothing is missing, or nothing was attached.
    init?(_ media: [MediaSummary]) {
        missing = media.filter(\.isMissing).map(\.responseRate).reduce(Rate(0, of: 0), +)
        attached = media.filter(\.isAttached).map(\.responseRate).reduce(Rate(0, of: 0), +)
        guard missing.whole > 0, attached.whole > 0 else { return nil }
        verdict = TwoProportions.verdict(missing, against: attached)
    }

    fileprivate var sentence: Block {
        let (without, with) = (missing.value ?? 0, attached.value ?? 0)
        var tone = Tone.plain
        if case .lower = verdict { tone = .alarm }
        return .sentence(
            "\(Wording.percent(without)) of \(Wording.count(missing.whole)) responded where the attachment was "
                + "missing, and \(Wording.percent(with)) of \(Wording.count(attached.whole)) where it was there: "
                + "\(Wording.difference(from: with, to: without)). \(verdict.sentence)", tone)
    }
}

/// Deliveries of a category that had media and buttons, where a content extension shows the category: it shows the
/// buttons, and of the media no more than a thumbnail. iOS itself shows both.
struct MediaWithButtons: Hashable, Sendable {
    var category: String
    var deliveries: Int64
    /// All deliveries of the category.
    var delivered: Int64

    /// A few are mistakes of single sends.
    var isAlarming: Bool { deliveries * 100 > delivered }

    fileprivate static func find(in categories: [CategorySummary], extended: Set<ExactName>) -> [MediaWithButtons] {
        categories.compactMap { category in
            let hasButtons = category.buttons.contains(where: \.isThere) || !category.actions.isEmpty
            guard hasButtons, category.counts.mediaAttached > 0, extended.contains(ExactName(category.name)) else {
                return nil
            }
            return MediaWithButtons(
                category: category.name, deliveries: category.counts.mediaAttached, delivered: category.counts.delivered
            )
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
        let extended = try connection.query(
            """
            SELECT category FROM analytics.categories
            WHERE app = \(scope.app) AND content_extension AND retired_at IS NULL
            """
        ).map { row throws(PostgresError) in ExactName(try row.get(0)) }
        report.mediaWithButtons = MediaWithButtons.find(in: report.categories, extended: Set(extended))
        report.audioInHive = try connection.query(
            """
            SELECT coalesce(sum(m.deliveries), 0)::bigint FROM analytics.media_funnel AS m
            WHERE m.app = \(scope.app) AND m.day = \(scope.day) AND m.kind = 'audio'
                AND m.outcome IN ('attached', 'prefetched')
                AND EXISTS (
                    SELECT FROM analytics.categories AS c
                    WHERE c.app = m.app AND c.category = m.category AND c.category_set IN ('hive', 'preset:hive')
                        AND c.retired_at IS NULL
                )
            """)[0].get(0)
        report.media = try connection.query(
            """
            SELECT kind, network, outcome, sum(deliveries)::bigint, sum(responded)::bigint, sum(bytes)::bigint,
                sum(ms)::bigint, sum(timed)::bigint
            FROM analytics.media_funnel
            WHERE app = \(scope.app) AND day = \(scope.day)
            GROUP BY kind, network, outcome
            ORDER BY sum(deliveries) DESC, kind COLLATE "C", network COLLATE "C", outcome COLLATE "C"
            """
        ).map { row throws(PostgresError) in
            MediaSummary(
                kind: try row.get(0), network: try row.get(1), outcome: try row.get(2), deliveries: try row.get(3),
                responded: try row.get(4), bytes: try row.get(5), milliseconds: try row.get(6), timed: try row.get(7))
        }
        report.mediaCost = MediaCost(report.media)
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        if var cost = report.mediaCost {
            visit(&cost.verdict)
            report.mediaCost = cost
        }
    }

    static func deeds(_ report: Report) -> [Deed] {
        var deeds: [Deed] = []
        if let both = report.mediaWithButtons.filter(\.isAlarming).max(by: { $0.deliveries < $1.deliveries }) {
            deeds.append(
                Deed(
                    urgency: .broken, deliveries: both.deliveries,
                    ask:
                        "Send either media or buttons in \(Wording.name(both.category, else: CategoriesSection.none))",
                    why:
                        "its content extension leaves only a thumbnail of the media, in "
                        + "\(Wording.percent(Rate(both.deliveries, of: both.delivered))) of its deliveries",
                    section: "Media", subject: .category(both.category)))
        }
        if let cost = report.mediaCost, case .lower = cost.verdict {
            deeds.append(
                Deed(
                    urgency: .better, deliveries: cost.missing.whole,
                    ask: "Send smaller attachments",
                    why:
                        "\(Wording.percent(cost.missing)) responded where one was missing, and "
                        + "\(Wording.percent(cost.attached)) where it was there", section: "Media",
                    subject: .everything))
        }
        return deeds
    }

    static func words(_ report: Report) -> Page.Section? {
        let blocks =
            outcomes(report.media) + size(of: report.media) + (report.mediaCost.map { [$0.sentence] } ?? [])
            + warnings(report)
        return blocks.isEmpty ? nil : Page.Section("Media", blocks)
    }

    static func facts(_ report: Report) -> [EntryList] {
        [
            .list("media", report.media) {
                Entry(
                    keys: [.text("kind", $0.kind), .text("network", $0.network), .text("outcome", $0.outcome)],
                    facts: [
                        .count("deliveries", $0.deliveries), .count("responded", $0.responded),
                        .number("response_rate", $0.responseRate.value), .count("bytes", $0.bytes),
                        .count("ms", $0.milliseconds),
                        .count("timed", $0.timed), .number("mean_seconds", $0.meanSeconds),
                    ])
            },
            .single(
                "media_cost",
                report.mediaCost.map { cost in
                    let rates: [Fact] = [
                        .facts("missing", cost.missing.asResponse), .facts("attached", cost.attached.asResponse),
                    ]
                    return Entry(facts: rates + cost.verdict.facts)
                }),
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
                .number("Mean download", Wording.duration(seconds: row.meanSeconds)),
                .percent("Response rate", row.responseRate),
            ]
        }
        return [.table(table)]
    }

    /// How much was loaded, and how much of it over networks that people may pay for by the byte.
    private static func size(of media: [MediaSummary]) -> [Block] {
        let all = media.reduce(0) { $0 + $1.bytes }
        guard all > 0 else { return [] }
        let cellular = media.filter { $0.network == "cellular" }.reduce(0) { $0 + $1.bytes }
        return [
            .sentence(
                "Attachments took \(Wording.bytes(all)), \(Wording.bytes(cellular)) of it over cellular networks, as "
                    + "far as sizes are known.", .plain)
        ]
    }

    /// Where people see or hear less than the sender may expect.
    private static func warnings(_ report: Report) -> [Block] {
        [report.mediaWithButtons.filter(\.isAlarming), report.mediaWithButtons.filter { !$0.isAlarming }]
            .filter { !$0.isEmpty }.map(both) + audio(report.audioInHive)
    }

    /// Of categories that are all alarming, or all not.
    private static func both(_ found: [MediaWithButtons]) -> Block {
        let deliveries = found.reduce(0) { $0 + $1.deliveries }
        let named = found.prefix(mostNamed).map {
            "\(Wording.name($0.category, else: CategoriesSection.none)) (\(Wording.count($0.deliveries)))"
        }
        let others = found.count - named.count
        let names = named.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
        let isAlarm = found.allSatisfy(\.isAlarming)
        return .sentence(
            "\(Wording.count(deliveries, "delivery", "deliveries")) had both media and buttons where a content "
                + "extension shows the buttons, so people saw only a thumbnail of the media: \(names)."
                + (isAlarm ? " Use one of the two." : " That is at most 1 % of each category."),
            isAlarm ? .alarm : .plain)
    }

    private static func audio(_ deliveries: Int64) -> [Block] {
        guard deliveries > 0 else { return [] }
        return [
            .sentence(
                "\(Wording.count(deliveries, "delivery", "deliveries")) in categories of Hive had audio attached. "
                    + "People hear it only if they press and hold the notification.", .alarm)
        ]
    }
}
