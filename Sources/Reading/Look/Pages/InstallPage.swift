internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// One install: what it received and did, in order, and what may be why nothing arrives.
///
/// No index finds the events of an install, so this page reads the log of its days, and by itself only as many days as
/// make that quick. Its days are those of the device's clock, uncorrected: each event is on exactly one of them, and it
/// is the one by which the log is divided.
enum InstallPage {
    static let most = 100
    /// Whoever wants more takes the CSV or the SQL.
    private static let mostPlaces: Int64 = 10_000
    /// The page opens on the newest days that have so many deliveries together.
    private static let mostDeliveries: Int64 = 1_000_000
    /// The newest events of the install that its state is taken from.
    private static let mostTold: Int64 = 10_000

    /// Refuses what the addresses of this page cannot mean.
    static func check(_ state: PageState) throws(AddressFault) {
        if let after = state.after, Int64(after).map({ (0...mostPlaces).contains($0) }) != true {
            throw AddressFault("'after' is how many events come before, from 0 to \(mostPlaces).")
        }
    }

    static func read(
        _ state: PageState, _ given: Scope, on connection: inout Connection
    ) throws(PostgresError) -> Sight {
        var scope = given
        if state.days == nil { scope.days = try quickDays(state.app ?? "", scope.today, on: &connection) }
        var sight = Sight(
            "Install", lead: "One install of \(state.app ?? ""): what it received and did, \(scope.days).", state, scope
        )
        sight.add("Find it", [.finder(Sight.Finder(state))])
        if let install = state.filters[.install].flatMap({ UUID($0) }) {
            try addInstall(install, to: &sight, state, scope, on: &connection)
        } else if let notification = state.filters[.notification], !notification.isEmpty {
            try addNotification(notification, to: &sight, state, scope, on: &connection)
        }
        return sight
    }

    /// The newest days that are read in about a second, up to the usual number.
    private static func quickDays(
        _ app: String, _ today: CivilDate, on connection: inout Connection
    ) throws(PostgresError) -> DayRange {
        let usual = DayRange(Scope.usual, upTo: today)
        var (first, deliveries) = (today, Int64(0))
        let rows = try connection.ask(
            """
            SELECT day, sum(delivered)::bigint AS delivered FROM analytics.category_funnel
            WHERE app = \(app) AND \(FunnelSQL.during(usual)) GROUP BY day ORDER BY day DESC
            """
        ).rows
        for row in rows {
            deliveries += row.count("delivered")
            guard deliveries <= mostDeliveries, let day = row.day("day") else { return DayRange(first, today) }
            first = day
        }
        return usual
    }

    /// The condition of the page's days on a row of the log.
    private static func during(_ scope: Scope) -> Query {
        """
        device_at >= \(scope.days.first)::timestamp AT TIME ZONE \(scope.timeZone)
            AND device_at < \(scope.days.last.advanced(by: 1))::timestamp AT TIME ZONE \(scope.timeZone)
        """
    }

    // MARK: By a notification

    private static func addNotification(
        _ notification: String, to sight: inout Sight, _ state: PageState, _ scope: Scope,
        on connection: inout Connection
    ) throws(PostgresError) {
        let key = FCMMessageID.normalized(notification)
        let byKey = deliveries("notification_key = \(key)", state, scope)
        var answer = try connection.scanning(byKey, for: state)
        if answer.grid.rows.isEmpty {
            // A push with an FCM message ID goes by that, and may have a delivery id beside it. Only its events tell.
            let named: Query = """
                notification_key IN (
                    SELECT notification_key FROM analytics.events
                    WHERE app = \(state.app ?? "") AND delivery_id = \(notification) AND \(during(scope)))
                """
            answer = try connection.scanning(deliveries(named, state, scope), for: state)
        }
        var exported = Listing(
            "exported", "What FCM says of it",
            """
            SELECT event_timestamp, event, message_type, topic, analytics_label FROM analytics.fcm_export
            WHERE app = \(state.app ?? "") AND notification_key = \(key)
                AND event_timestamp >= \(scope.days.first)::timestamp AT TIME ZONE \(scope.timeZone)
                AND event_timestamp < \(scope.days.last.advanced(by: 1))::timestamp AT TIME ZONE \(scope.timeZone)
            ORDER BY event_timestamp, event
            """)
        exported.none =
            "FCM's export, as far as it is imported, has no row of this message in these days: nobody sent it with "
            + "this id, or not through FCM."
        let rows = try connection.answer(exported, for: state)
        sight.add("The notification \(String(printable: key))", [.answer(answer), .answer(rows)])
    }

    private static func deliveries(_ which: Query, _ state: PageState, _ scope: Scope) -> Listing {
        var found = Listing(
            "found", "Installs of which there is an event of this notification",
            """
            SELECT install_id, day, category, campaign, received, opened, action_tapped, dismissed, app_version,
                notification_key
            FROM analytics.deliveries
            WHERE app = \(state.app ?? "") AND \(FunnelSQL.during(scope.days)) AND \(which)
            ORDER BY day, install_id
            """)
        found.hidden = ["notification_key"]
        found.link = { row, column in
            guard column == "install_id", let install = row.uuid("install_id"), let key = row.text("notification_key")
            else { return nil }
            return state.with([.install: "\(install)", .notification: key])
        }
        found.none = "No install has told of this notification in these days."
        return found
    }

    // MARK: One install

    private static func addInstall(
        _ install: UUID, to sight: inout Sight, _ state: PageState, _ scope: Scope, on connection: inout Connection
    ) throws(PostgresError) {
        let app = state.app ?? ""
        let whose: Query = "app = \(app) AND install_id = \(install) AND \(during(scope))"
        let told = try connection.answer(summary(whose), for: state)
        var drops = Listing(
            "drops", "Events that its client had to drop, whenever",
            """
            SELECT received_at, count, since, reason FROM analytics.client_drops
            WHERE app = \(app) AND install_id = \(install) ORDER BY received_at DESC, drop_id
            """)
        var rejected = Listing(
            "rejected", "Its rejected events, whenever, the newest first",
            """
            SELECT received_at, reason, detail, event_id FROM analytics.rejected_events
            WHERE app = \(app) AND install_id = \(install) ORDER BY received_at DESC, rejection
            """)
        rejected.prose = ["detail"]
        rejected.none = "None was rejected."
        drops.none = "It has reported none."
        if let row = told.grid.rows.first {
            sight.add(
                "Why nothing arrives, as far as anything tells",
                [
                    .checks(InstallDiagnosis.checks(row)),
                    .words(
                        "A push that iPhone, FCM or the user held back leaves no trace here. What an erased install "
                            + "sent before is gone; bellwether access says whether it was erased.",
                        .note), .source(told),
                ])
        }
        let events = try connection.answer(history(whose, state, scope), for: state)
        sight.add("What it received and did", [.links(types(state)), .answer(events), .links(pages(events, state))])
        sight.add("Settings over time", [.answer(try connection.answer(changes(whose, scope), for: state))])
        sight.add(
            "Experiments",
            [
                .answer(try connection.answer(arms(of: install, app, state), for: state)),
                .words("It counts in an experiment if it had an event in the 28 days before the start.", .note),
            ])
        sight.add(
            "Rejected and dropped",
            [
                .answer(try connection.answer(rejected, for: state)),
                .answer(try connection.answer(drops, for: state)),
            ])
    }

    /// What its newest events of these days say together.
    private static func summary(_ whose: Query) -> Listing {
        Listing(
            "summary", "What its events of these days say together",
            """
            SELECT count(*) AS events, max(occurred_at) AS last_seen,
                (array_agg(app_version ORDER BY place) FILTER (WHERE app_version IS NOT NULL))[1] AS app_version,
                (array_agg("authorization" ORDER BY place) FILTER (WHERE "authorization" IS NOT NULL))[1]
                    AS "authorization",
                max(occurred_at) FILTER (WHERE type = 'permission.changed' AND "authorization" = 'denied')
                    AS turned_off_at,
                (array_agg(setting_alerts ORDER BY place) FILTER (WHERE setting_alerts IS NOT NULL))[1]
                    AS setting_alerts,
                (array_agg(setting_lock_screen ORDER BY place) FILTER (WHERE setting_lock_screen IS NOT NULL))[1]
                    AS setting_lock_screen,
                (array_agg(setting_scheduled_summary ORDER BY place)
                    FILTER (WHERE setting_scheduled_summary IS NOT NULL))[1] AS setting_scheduled_summary,
                max(occurred_at) FILTER (WHERE type = 'notification.received') AS last_receipt,
                (array_agg(app_version ORDER BY place)
                    FILTER (WHERE app_version IS NOT NULL AND type = 'notification.received'))[1] AS receipt_version
            FROM (
                SELECT occurred_at, type, app_version, "authorization", setting_alerts, setting_lock_screen,
                    setting_scheduled_summary, row_number() OVER (ORDER BY occurred_at DESC, seq DESC NULLS LAST,
                        event_id DESC) AS place
                FROM analytics.events WHERE \(whose)
                ORDER BY occurred_at DESC, seq DESC NULLS LAST, event_id DESC LIMIT \(mostTold)
            ) AS newest
            """)
    }

    private static func history(_ whose: Query, _ state: PageState, _ scope: Scope) -> Listing {
        var type: Query = ""
        if let name = state.filters[.type] { type = " AND type = \(name)" }
        if let notification = state.filters[.notification], !notification.isEmpty {
            type = "\(type) AND notification_key = \(FCMMessageID.normalized(notification))"
        }
        let place = state.after.flatMap { Int64($0) } ?? 0
        var listing = Listing(
            "events", "Its events, in order; times in \(scope.timeZone)",
            """
            SELECT \(FunnelSQL.local("occurred_at", scope)) AS made_locally, type, category, campaign, notification_key,
                nullif(concat_ws(', ', via, array_to_string(presentation, '+'), fetch_result, media_outcome, launch,
                    action_id, 'page ' || page_index + 1, cause, reason, goal, value::text, currency,
                    previous || ' before', nullif(time_source, 'device') || ' clock'), '') AS detail,
                app_version, "authorization", occurred_at, device_at, event_id
            FROM analytics.events WHERE \(whose)\(type)
            ORDER BY occurred_at, coalesce(seq, 0), event_id OFFSET \(place)
            """)
        listing.most = most
        listing.hidden = ["occurred_at", "device_at", "event_id"]
        listing.none = place == 0 ? "No event in these days." : "No more in these days."
        listing.link = { row, column in
            guard column == "notification_key", let key = row.text(column) else { return nil }
            return state.with([.notification: key, .type: nil])
        }
        return listing
    }

    /// One row for each change of what the device says that it may show.
    private static func changes(_ whose: Query, _ scope: Scope) -> Listing {
        var listing = Listing(
            "settings", "What it said that it may show, where that changed",
            """
            SELECT \(FunnelSQL.local("occurred_at", scope)) AS made_locally, "authorization", show_previews,
                setting_alerts, setting_lock_screen, setting_notification_center, setting_sounds, setting_badges,
                setting_time_sensitive, setting_scheduled_summary, app_version
            FROM (
                SELECT *, lag(said) OVER (ORDER BY occurred_at, coalesce(seq, 0), event_id) AS before
                FROM (
                    SELECT *, concat_ws(',', coalesce("authorization", '-'), coalesce(show_previews, '-'),
                        coalesce(setting_alerts, '-'), coalesce(setting_lock_screen, '-'),
                        coalesce(setting_notification_center, '-'), coalesce(setting_sounds, '-'),
                        coalesce(setting_badges, '-'), coalesce(setting_time_sensitive, '-'),
                        coalesce(setting_scheduled_summary, '-')) AS said
                    FROM analytics.events WHERE \(whose)
                        AND ("authorization" IS NOT NULL OR setting_alerts IS NOT NULL OR show_previews IS NOT NULL)
                ) AS event
            ) AS event
            WHERE said IS DISTINCT FROM before ORDER BY occurred_at, coalesce(seq, 0), event_id
            """)
        listing.none = "Its events of these days say nothing of it."
        return listing
    }

    /// The arm that each experiment's rule gives it.
    private static func arms(of install: UUID, _ app: String, _ state: PageState) -> Listing {
        var listing = Listing(
            "arms", "Its arms, the latest experiment first",
            """
            SELECT experiment,
                CASE WHEN place + CASE WHEN place < 0 THEN 18446744073709551616 ELSE 0 END
                    < control / 100 * 18446744073709551616 THEN 'control' ELSE 'treated' END AS arm,
                starts_at, ends_at
            FROM (
                SELECT *, ('x' || left(encode(sha256(convert_to(salt || ':' || \("\(install)"), 'UTF8')), 'hex'), 16))
                    ::bit(64)::bigint AS place
                FROM analytics.experiment_versions WHERE app = \(app) AND is_newest
            ) AS experiment
            ORDER BY starts_at DESC, experiment
            """)
        listing.meansAsIn = ["experiments"]
        listing.none = "No experiment is registered."
        listing.link = { row, column in
            guard column == "experiment", let name = row.text("experiment") else { return nil }
            return state.turned(to: .experiment).with([.experiment: name])
        }
        return listing
    }

    private static func types(_ state: PageState) -> [Sight.Link] {
        let all = state.with([.type: nil, .notification: nil])
        let isAll = state.filters[.type] == nil && state.filters[.notification] == nil
        let only: [(String, EventType)] = [("Receipts", .notificationReceived), ("Goals", .goalReached)]
        return [Sight.Link(text: "All events", address: all.address, isCurrent: isAll)]
            + only.map { title, type in
                Sight.Link(
                    text: title, address: all.with([.type: type.name]).address,
                    isCurrent: state.filters[.type] == type.name)
            }
    }

    private static func pages(_ answer: Answer, _ state: PageState) -> [Sight.Link] {
        var (links, next) = ([Sight.Link](), state)
        if state.after != nil {
            next.after = nil
            links.append(.init(text: "First page", address: next.address))
        }
        let place = (state.after.flatMap { Int64($0) } ?? 0) + Int64(most)
        if answer.isCut, place <= mostPlaces {
            next.after = "\(place)"
            links.append(.init(text: "Next \(most)", address: next.address))
        }
        return links
    }
}
