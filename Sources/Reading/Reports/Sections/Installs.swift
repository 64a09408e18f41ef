internal import Postgres
internal import Telemetry
internal import Values

/// Installs, each counted once for the day, so days cannot be summed. Silent pushes reach nobody.
struct ReachedInstalls: Hashable, Sendable {
    var reached: Int64 = 0
    var responding: Int64 = 0
    /// Deliveries per install that got any: the median and the 95th percentile.
    var pushesP50: Int64?
    var pushesP95: Int64?
}

/// Installs that sent something on the day, and what they may show.
struct Permissions: Hashable, Sendable {
    var active: Int64 = 0
    /// Authorized, provisional or ephemeral.
    var allowed: Int64 = 0
    var denied: Int64 = 0
    var turnedOff: Int64 = 0
    var turnedOn: Int64 = 0
    /// What those that turned notifications off had last received, the most frequent first.
    var mutedAfter: [MutedAfter] = []
    /// Of those that `mutedAfter` leaves out; nil if there are none.
    var otherMuted: RestOfList<MutedAfter>?
    /// How noticeable notifications were on the last four weeks' days of which anything is known.
    var reach: [ReachOfDay] = []

    struct ReachOfDay: Hashable, Sendable {
        var day: CivilDate
        var prominent: Int64
        var quiet: Int64
        var none: Int64

        var rate: Rate { Rate(prominent, of: prominent + quiet + none) }
    }

    struct MutedAfter: Hashable, Sendable {
        var category: String
        var campaign: String
        var installs: Int64
        /// Those of them that had received nothing in the 24 hours before. They have neither category nor campaign.
        var receivedNothing: Int64 = 0

        fileprivate var facts: [Fact] { [.count("installs", installs), .count("received_nothing", receivedNothing)] }
    }
}

enum InstallsSection: ReportSection {
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        report.permissions = try Permissions.read(scope, on: &connection)
        guard !report.isSealed else { return }
        let row = try connection.query(
            """
            SELECT
                count(*), count(*) FILTER (WHERE responding),
                percentile_disc(0.5) WITHIN GROUP (ORDER BY pushes),
                percentile_disc(0.95) WITHIN GROUP (ORDER BY pushes)
            FROM (
                SELECT count(*) AS pushes, bool_or(responded) AS responding FROM analytics.deliveries
                WHERE app = \(scope.app) AND day = \(scope.day) AND NOT silent GROUP BY install_id
            ) AS install
            """)[0]
        report.reach = ReachedInstalls(
            reached: try row.get(0), responding: try row.get(1), pushesP50: try row.optional(2),
            pushesP95: try row.optional(3))
    }

    static func words(_ report: Report) -> Page.Section? {
        let blocks = reached(report.reach) + report.permissions.blocks
        guard !blocks.isEmpty else { return nil }
        return Page.Section(
            "Installs", blocks + [.sentence("Each install counts once a day, so days cannot be added up.", .note)])
    }

    private static func reached(_ reach: ReachedInstalls) -> [Block] {
        guard reach.reached > 0 else { return [] }
        var figures = [
            Figure("Installs reached", Wording.count(reach.reached)),
            Figure(
                "Installs responding", Wording.count(reach.responding),
                detail: "\(Wording.percent(Rate(reach.responding, of: reach.reached))) of those reached"),
        ]
        if let median = reach.pushesP50, let many = reach.pushesP95 {
            figures.append(
                Figure(
                    "Pushes per install", Wording.count(median),
                    detail: "median; 95th percentile: \(Wording.count(many))"))
        }
        return [.figures(figures)]
    }

    static func facts(_ report: Report) -> [EntryList] {
        let (reach, permissions) = (report.reach, report.permissions)
        return [
            .single(
                "reach",
                Entry(facts: [
                    .count("installs_reached", reach.reached), .count("installs_responding", reach.responding),
                    .count("pushes_p50", reach.pushesP50), .count("pushes_p95", reach.pushesP95),
                ])),
            .single(
                "permissions",
                Entry(
                    facts: [
                        .count("active", permissions.active), .count("allowed", permissions.allowed),
                        .count("denied", permissions.denied), .count("turned_off", permissions.turnedOff),
                        .count("turned_on", permissions.turnedOn),
                    ],
                    lists: [
                        .list("reach", permissions.reach) {
                            Entry(
                                keys: [.text("day", $0.day.description)],
                                facts: [
                                    .count("prominent", $0.prominent), .count("quiet", $0.quiet),
                                    .count("none", $0.none),
                                ])
                        },
                        .list("muted_after", permissions.mutedAfter) {
                            Entry(
                                keys: [.text("category", $0.category), .text("campaign", $0.campaign)], facts: $0.facts)
                        },
                    ] + RestOfList.facts("other_muted_after", permissions.otherMuted) { $0.facts })),
        ]
    }
}

extension Permissions {
    static func read(_ scope: ReportScope, on connection: inout Connection) throws(PostgresError) -> Permissions {
        let day = try connection.query(
            """
            SELECT active, authorized + provisional + ephemeral, denied, turned_off, turned_on
                FROM analytics.install_days
            WHERE app = \(scope.app) AND day = \(scope.day)
            """
        ).first
        guard let day else { return Permissions() }
        let most = scope.bound.entries
        let (muted, otherMuted) = try connection.query(
            """
            SELECT min(category COLLATE "C"), min(campaign COLLATE "C"), sum(installs)::bigint,
                sum(received_nothing)::bigint, count(*) FILTER (WHERE place > \(most))
            FROM (
                SELECT *, least(
                    row_number() OVER (ORDER BY installs DESC, category COLLATE "C", campaign COLLATE "C"),
                    \(most) + 1) AS place
                FROM analytics.muted_after WHERE app = \(scope.app) AND day = \(scope.day)
            ) AS ranked
            GROUP BY place ORDER BY place
            """
        ).listed(leftOut: 4) { row throws(PostgresError) in
            MutedAfter(
                category: try row.get(0), campaign: try row.get(1), installs: try row.get(2),
                receivedNothing: try row.get(3))
        }
        let reach = try connection.query(
            """
            SELECT day, prominent, quiet, none FROM analytics.install_days
            WHERE app = \(scope.app) AND day > \(scope.day) - 28 AND day <= \(scope.day)
                AND prominent + quiet + none > 0
            ORDER BY day
            """
        ).map { row throws(PostgresError) in
            ReachOfDay(day: try row.get(0), prominent: try row.get(1), quiet: try row.get(2), none: try row.get(3))
        }
        return Permissions(
            active: try day.get(0), allowed: try day.get(1), denied: try day.get(2), turnedOff: try day.get(3),
            turnedOn: try day.get(4), mutedAfter: muted, otherMuted: otherMuted, reach: reach)
    }

    fileprivate var blocks: [Block] {
        guard active > 0 else { return [] }
        let known = Rate(allowed, of: allowed + denied)
        let figures: [Figure] = [
            Figure("Active installs", Wording.count(active), detail: "sent something on this day"),
            Figure(
                "Notifications allowed", Wording.percent(known),
                detail: "\(Wording.count(known.part)) of \(Wording.count(known.whole)) that said yes or no"),
            Figure(
                "Turned off", Wording.count(turnedOff),
                detail: "seen on this day; turned on: \(Wording.count(turnedOn))"),
        ]
        guard !mutedAfter.isEmpty else { return [.figures(figures)] + noticed }
        let received = mutedAfter.filter { $0.installs > $0.receivedNothing }.map { muted in
            (
                category: Wording.name(muted.category, else: CategoriesSection.none),
                campaign: Wording.name(muted.campaign, else: CampaignsSection.none),
                installs: muted.installs - muted.receivedNothing
            )
        }
        let nothing = mutedAfter.reduce(otherMuted?.counts.receivedNothing ?? 0) { $0 + $1.receivedNothing }
        let rows = received + (nothing > 0 ? [("Nothing in the 24 hours before", "", nothing)] : [])
        let table = Table("What installs had last received before they turned notifications off", of: rows) { row in
            [.text("Category", row.category), .text("Campaign", row.campaign), .count("Installs", row.installs)]
        }
        return [
            .figures(figures)
        ] + noticed + [
            .table(table)
        ]
            + RestOfList.words(
                otherMuted, "category and campaign", "categories and campaigns", { $0.installs - $0.receivedNothing },
                of: "install", "installs") + [
                .sentence(
                    "An app learns of it when it is next in front, so the day may be a later one. What came last is "
                        + "not always the reason. Compare with what all installs received.", .note)
            ]
    }

    /// Where notifications are noticed, day by day: whoever has them only in a summary or a list seldom responds, and
    /// no text of a push changes that.
    private var noticed: [Block] {
        guard let last = reach.last else { return [] }
        let chart = Chart(
            title: "Noticeable", unit: .share,
            points: reach.map { .init(day: $0.day, value: $0.rate.value, isOpen: false) }, step: 1)
        return [
            .figures([
                Figure(
                    "Noticeable", Wording.percent(last.rate),
                    detail: "\(Wording.count(last.prominent)) show notifications as a banner or on the lock screen, "
                        + "\(Wording.count(last.quiet)) only quietly or in the summary, "
                        + "\(Wording.count(last.none)) not at all"
                )
            ])
        ] + (reach.count > 1 ? [.trend(Trend("Installs that show notifications where they are noticed", [chart]))] : [])
    }
}
