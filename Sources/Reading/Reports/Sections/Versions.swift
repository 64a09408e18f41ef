internal import Postgres
internal import Telemetry
internal import Values

/// One version of the app on one platform, and whether its receipts still arrive.
struct VersionSummary: Hashable, Sendable {
    var platform: String
    var version: String
    var counts: FunnelCounts
    /// Receipt coverage of the same version on the seven days before; if it is new, of all versions of the platform.
    var before: Rate
    /// True when `before` is that of the platform.
    var isNew: Bool
    /// Coverage on the day compared with `before`.
    var verdict: Significance

    /// Coverage that is lower by two points or more, and by more than chance.
    var isAlarm: Bool {
        guard case .lower = verdict, let now = counts.receiptCoverage.value, let was = before.value else {
            return false
        }
        return was - now >= 0.02
    }

    fileprivate var name: String {
        "\(Wording.name(platform, else: "(no platform)")) \(Wording.name(version, else: "(no version)"))"
    }
}

/// A version that loses receipts: one cause, on however many platforms it shows.
struct LostReceipts: Hashable, Sendable {
    var version: String
    /// The versions by platform whose coverage fell, the most delivered first.
    var parts: [VersionSummary]

    /// Most deliveries first.
    static func find(in versions: [VersionSummary]) -> [LostReceipts] {
        let alarms = versions.filter(\.isAlarm)
        return Dictionary(grouping: alarms) { ExactName($0.version) }
            .map { LostReceipts(version: $0.text, parts: $1) }
            .sorted { ($1.coverage.whole, ExactName($0.version)) < ($0.coverage.whole, ExactName($1.version)) }
    }

    /// On all those platforms together.
    var coverage: Rate { parts.map(\.counts.receiptCoverage).reduce(Rate(0, of: 0), +) }
    /// What it would be if each platform had the coverage that it had before.
    var before: Double? {
        let parts = parts.map { (weight: Double($0.counts.delivered), share: $0.before.value ?? 0) }
        let whole = parts.reduce(0) { $0 + $1.weight }
        return whole > 0 ? parts.reduce(0) { $0 + $1.weight * $1.share } / whole : nil
    }

    /// `ios 4.3.0`, or `4.3.0 on android, ios and ipados`
    var name: String {
        guard parts.count > 1 else { return parts.first?.name ?? "" }
        let platforms = parts.map { Wording.name($0.platform, else: "(no platform)") }
        return "\(Wording.name(version, else: "(no version)")) on "
            + "\(platforms.dropLast().joined(separator: ", ")) and \(platforms[platforms.count - 1])"
    }

    /// `fell from 98.8 % to 61.0 %`
    var change: String {
        let (was, now) = (Wording.percent(before), Wording.percent(coverage))
        return parts.allSatisfy(\.isNew) ? "is \(now), and was \(was) on its platform" : "fell from \(was) to \(now)"
    }

    fileprivate var sentence: String {
        let judged = parts.count == 1 ? parts[0].verdict.sentence : "On each of them this is more than chance."
        return "Receipt coverage of \(name) \(change). \(judged) Check its notification service extension."
    }
}

/// Receipt coverage by app version: if a release breaks the service extension, it shows here first.
enum VersionsSection: ReportSection {
    /// A version with fewer deliveries on the seven days before is compared with its platform.
    private static let leastBefore: Int64 = 100

    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let most = scope.bound.entries
        let rows = try connection.query(
            """
            WITH before AS (
                SELECT
                    platform, app_version, sum(received)::bigint AS had_received, sum(delivered)::bigint AS had
                FROM analytics.version_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay.advanced(by: -7))
                    AND \(scope.firstDay.advanced(by: -1))
                GROUP BY GROUPING SETS ((platform, app_version), (platform))
            ), ranked AS (
                SELECT
                    platform, app_version, \(sql: FunnelCounts.sums), sum(engaged)::bigint AS engaged,
                    sum(received_engaged)::bigint AS received_engaged,
                    least(
                        row_number() OVER (ORDER BY sum(delivered) DESC, platform COLLATE "C", app_version COLLATE "C"),
                        \(most) + 1) AS place
                FROM analytics.version_funnel
                WHERE app = \(scope.app) AND day BETWEEN \(scope.firstDay) AND \(scope.day)
                GROUP BY platform, app_version
            ), today AS MATERIALIZED (
                SELECT
                    place, min(platform COLLATE "C") AS platform, min(app_version COLLATE "C") AS app_version,
                    count(*) FILTER (WHERE place > \(most)) AS left_out, \(sql: FunnelCounts.sums)
                FROM ranked GROUP BY place
            )
            SELECT
                coalesce(version.had_received, 0), coalesce(version.had, 0), coalesce(platform.had_received, 0),
                coalesce(platform.had, 0), today.*
            FROM today
            LEFT JOIN before AS version
                ON version.platform = today.platform AND version.app_version = today.app_version AND left_out = 0
            LEFT JOIN before AS platform
                ON platform.platform = today.platform AND platform.app_version IS NULL AND left_out = 0
            ORDER BY place
            """)
        let (versions, rest) = try rows.listed(leftOut: 7) { row throws(PostgresError) in
            let counts = try FunnelCounts(row, from: 8)
            let version = Rate(try row.get(0), of: try row.get(1))
            let platform = Rate(try row.get(2), of: try row.get(3))
            let isNew = version.whole < leastBefore
            let before = isNew ? platform : version
            return VersionSummary(
                platform: try row.get(5), version: try row.get(6), counts: counts, before: before, isNew: isNew,
                verdict: TwoProportions.verdict(counts.receiptCoverage, against: before))
        }
        report.versions = versions
        // They are not judged, so of them only the counts mean anything.
        report.otherVersions = rest.map { RestOfList(entries: $0.entries, counts: $0.counts.counts) }
    }

    static func eachVerdict(_ report: inout Report, _ visit: (inout Significance) -> Void) {
        for place in report.versions.indices { visit(&report.versions[place].verdict) }
    }

    static func deeds(_ report: Report) -> [Deed] {
        LostReceipts.find(in: report.versions).map { lost in
            Deed(
                urgency: .broken, deliveries: lost.coverage.whole, ask: "Check the notification service extension",
                why: "receipt coverage of \(lost.name) \(lost.change)", section: "Receipts by app version",
                subject: .everything)
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard !report.versions.isEmpty else { return nil }
        var blocks: [Block] = LostReceipts.find(in: report.versions).map { .sentence($0.sentence, .alarm) }
        let table = Table("Receipt coverage by app version", of: report.versions) { version in
            let tone: Tone = version.isAlarm ? .alarm : .plain
            return [
                .text("Version", version.name + (version.isNew ? " †" : ""), tone: tone),
                .count("Delivered", version.counts.delivered), .count("Received", version.counts.received),
                .bar("Coverage", version.counts.receiptCoverage, tone: tone),
                .percent("Previous 7 days", version.before),
                .number(
                    report.leadsWithEngagement ? "Engagement rate" : "Response rate",
                    Wording.percent(
                        report.leadsWithEngagement ? version.counts.engagementRate : version.counts.responseRate)
                        + (version.counts.lacksReceiptsOfResponses ? FunnelCounts.mark : "")),
            ]
        }
        blocks.append(.table(table))
        blocks += RestOfList.words(report.otherVersions, "version", "versions")
        if report.versions.prefix(Table.mostRows).contains(where: \.isNew) {
            blocks.append(.sentence("† A new or rare version is compared with all versions of its platform.", .note))
        }
        return Page.Section("Receipts by app version", blocks + report.versions.map(\.counts).markNote)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .list("versions", report.versions) { version in
            let before: [Fact] = [
                .facts("before", version.before.asCoverage), .flag("is_new", version.isNew),
                .flag("alarm", version.isAlarm),
            ]
            return Entry(
                keys: [.text("platform", version.platform), .text("app_version", version.version)],
                facts: version.counts.facts + before + version.verdict.facts)
        } + RestOfList.facts("other_versions", report.otherVersions)
    }
}
