import Accounts
import CatalogueSupport
import Clusters
import Envelopes
import EventLog
import FunnelOracle
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

/// A cluster of three cells with a hub, and one database with the same events, sends and categories.
struct HubAndWhole {
    let cells: ThreeCells
    let hub: TestDatabase
    let whole: TestDatabase

    init(seeds: Range<UInt64> = 0..<8) throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        whole = try TestDatabase.make(.withUsualShards)
        let histories = seeds.map { RandomHistory(seed: $0, appPrefix: "h\($0)") }
        var (here, there): ([String: TestApp], [String: TestApp]) = ([:], [:])
        for (slug, zone) in histories.flatMap(\.timeZoneNames) {
            here[slug] = try whole.makeApp(slug, timeZone: zone)
            there[slug] = try cells.databases[0].makeApp(slug, timeZone: zone)
        }
        #expect(try cells.cluster().shareWithAll(SharedTables.accounts).isEmpty)
        try store(histories, here, there)
        for database in cells.databases + [whole] {
            let stopped = try ProjectionControl(url: try database.url(), log: .silent).catchUp().stopped
            #expect(stopped.isEmpty)
        }
        try tellWhatWasSent(
            whole.column(
                "SELECT app FROM analytics.story_funnel WHERE campaign = 'spring' GROUP BY 1 ORDER BY 1 LIMIT 3"))
    }

    func drop() {
        cells.drop()
        hub.drop()
        whole.drop()
    }

    /// The events as they arrived: in the cluster each in the cell of its install.
    private func store(
        _ histories: [RandomHistory], _ here: [String: TestApp], _ there: [String: TestApp]
    ) throws {
        let single = try whole.appender()
        let appenders = try cells.databases.map { try $0.appender() }
        let refused = (0..<2).map { place in
            RejectedEvent(
                id: nil, install: UUID(high: 1, low: UInt64(place)), rejection: Rejection(.unknownType, "type"),
                raw: "{\"place\": \(place)}")
        }
        // A report that is repeated after a move is in the old cell and in the new one.
        let drops = (1...3).map { ClientDrop(id: .random(), count: $0, since: nil, reason: .age) }
        for history in histories {
            for (slug, arrived) in Dictionary(grouping: history.events, by: \.app) {
                guard let own = here[slug], let theirs = there[slug] else { continue }
                _ = try single.append([
                    own.submission(arrived.map(\.event), rejected: refused), own.submission([], drops: drops),
                ])
                for (place, appender) in appenders.enumerated() {
                    let events = arrived.map(\.event).filter { event in
                        cells.map.holder(of: event.source.installID) == Int16(place + 1)
                    }
                    _ = try appender.append([
                        theirs.submission(events, rejected: Array(refused.dropFirst(place).prefix(1))),
                        theirs.submission([], drops: Array(drops.dropFirst(place))),
                    ])
                }
            }
        }
    }

    /// Sends with a story, the registered categories, an experiment, and an export for some of the messages.
    private func tellWhatWasSent(_ apps: [String]) throws {
        let sends = """
            {"sends": [
              {"id": "1", "campaign": "spring", "sent_at": "2024-03-30T09:00:00Z", "recipients": 120, "payload": {"pw_stories": {"pages": [
                {"image": "https://shop.example/a.jpg", "title": "A", "duration": 4}, {"image": "https://shop.example/b.jpg"}]}}},
              {"id": "2", "campaign": "black-friday", "variant": "a", "sent_at": "2025-03-29T09:00:00Z", "recipients": 7}]}
            """
        let categories = """
            {"categories": [{"id": "NEWS", "content_extension": true, "actions": [
              {"id": "OPEN", "titles": {"en": "Open"}, "answer": "accept"}, {"id": "CLOSE", "titles": {"en": "Close"}, "answer": "close"}]}]}
            """
        for slug in apps {
            let keys: [String] = try whole.column(
                """
                SELECT DISTINCT notification_key FROM analytics.deliveries WHERE app = \(slug)
                    AND notification_key ~ '^[0-9]+$'
                ORDER BY 1
                """)
            let export = (keys + ["1795165500001"]).map { key in
                """
                {"event_timestamp":"2025-03-29 09:05:00.310 UTC","project_number":"1","message_id":"\(key)","instance_id":"i","message_type":"DISPLAY_NOTIFICATION","sdk_platform":"IOS","app_name":"a","event":"MESSAGE_ACCEPTED","analytics_label":"x"}
                """
            }
            // In the middle of its events.
            let start: String = try whole.value(
                """
                SELECT to_char(percentile_disc(0.7) WITHIN GROUP (ORDER BY occurred_at) AT TIME ZONE 'UTC',
                    'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                FROM analytics.events WHERE app = \(slug)
                """)
            for database in [whole, cells.databases[1]] {
                let bellwether = try Bellwether(database)
                #expect(try bellwether.run("sends", "import", "--app", slug, "-", input: sends).status == 0)
                #expect(try bellwether.run("categories", "import", "--app", slug, "-", input: categories).status == 0)
                let imported = try bellwether.run(
                    "import", "fcm-export", "--app", slug, "-", input: export.joined(separator: "\n"))
                #expect(imported.status == 0)
                let experiment = try bellwether.run(
                    "experiments", "create", "--app", slug, "half", "--control", "50", "--salt", "s", "--starts",
                    start, "--campaign", "spring", "--campaign", "black-friday")
                #expect(experiment.status == 0, "\(experiment)")
            }
        }
    }

    /// The views that say the same of a cluster and of one database.
    private static let views = """
        SELECT c.relname::text FROM pg_class AS c
        WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v'
            AND c.relname NOT IN (
                'projections', 'proofs', 'batches', 'app_batches', 'reports', 'report_pages', 'report_categories',
                'report_to_do', 'report_deliveries')
        ORDER BY 1
        """

    /// Compares the rows of all views, in the hub and in the one database.
    func compareViews() throws {
        let views: [String] = try whole.column(Statement(Self.views))
        #expect(views.count > 30)
        #expect(try hub.column(Statement(Self.views)) == views)
        let told: Int64 = try hub.value("SELECT sum(installs + reached + exposed)::bigint FROM analytics.experiments")
        #expect(told > 2)
        for view in views {
            let (found, wanted) = (try rows(view, in: hub), try rows(view, in: whole))
            #expect(
                found == wanted,
                "\(view): \(Set(found).subtracting(wanted).sorted().prefix(2)) \(Set(wanted).subtracting(found).sorted().prefix(2)) of \(wanted.count)"
            )
            #expect(!wanted.isEmpty, "\(view) is empty")
        }
    }

    /// The rows of a view as an analyst reads them, in an order that is the same everywhere. What tells when something
    /// was stored, or under which number, is left out.
    func rows(_ view: String, in database: TestDatabase) throws -> [String] {
        var analyst = try database.connect(as: TestPostgres.analyst)
        let rows = try analyst.query(
            """
            SELECT (to_jsonb(v) - ARRAY['batch', 'rejection', 'drop_id', 'created_at', 'registered_at', 'retired_at',
                'imported_at',
                'position', 'lag', 'committed_at', 'edition', 'received_at', 'key', 'as_of'])::text COLLATE "C" AS line
            FROM analytics.\(identifier: view) AS v WHERE app <> 'chat' ORDER BY line
            """)
        return try rows.map { row in try row.get(0) }
    }
}
