internal import EventLog
internal import Values

/// One kind of what a database holds about an install: what erasure removes, in words that people can read.
///
/// Funnels are sums that no longer tell installs apart, and the words that an install brought are kept with a hash that
/// is too short to identify it. A projection that is being built or retired has the same deliveries and days once more.
package struct InstallHolding: Sendable {
    /// Its name in the list.
    package let kind: String
    /// SQL for `json` and the columns to order by, given the app's id and the install.
    let rows: @Sendable (_ app: Int32, _ install: UUID) -> String
    let order: String

    /// In the order of the list. To hold something more about installs, add it here and to `erase`; a test compares the
    /// two.
    package static let all = [
        InstallHolding(kind: "events", order: "occurred_at, seq, event_id") { _, _ in
            "SELECT * FROM \(heldEvents)"
        },
        InstallHolding(kind: "rejected_events", order: "received_at, id") { app, install in
            """
            SELECT r.received_at, r.id, to_jsonb(r) - '{id,batch_id,app,key,raw_hash}'::text[]
                || jsonb_build_object('batch', b.number, 'key', k.name) AS json
            FROM log.rejected AS r LEFT JOIN log.batch AS b ON b.id = r.batch_id
                LEFT JOIN log.api_key AS k ON k.id = r.key
            WHERE \(Erasure.condition(ofRejected: "r", app: app, install: install))
            """
        },
        InstallHolding(kind: "client_drops", order: "received_at, id") { app, install in
            """
            SELECT d.received_at, d.id, to_jsonb(d) - '{batch_id,app,key}'::text[]
                || jsonb_build_object('batch', b.number, 'key', k.name) AS json
            FROM log.client_drop AS d LEFT JOIN log.batch AS b ON b.id = d.batch_id
                LEFT JOIN log.api_key AS k ON k.id = d.key
            WHERE d.install_id = '\(install)' AND d.app = \(app)
            """
        },
        InstallHolding(kind: "fcm_export", order: "event_at, event, message_key") { app, _ in
            """
            SELECT r.event_at, r.event, r.message_key, to_jsonb(r) - 'app' AS json FROM sends.fcm_row AS r
            WHERE r.app = \(app) AND r.instance_id IN (SELECT fid FROM \(heldEvents))
            """
        },
        InstallHolding(kind: "fcm_messages", order: "first_at, message_key") { app, _ in
            """
            SELECT m.first_at, m.message_key, to_jsonb(m) - 'app' AS json FROM sends.fcm_message AS m
            WHERE m.app = \(app) AND m.instance_id IN (SELECT fid FROM \(heldEvents))
            """
        },
        InstallHolding(kind: "deliveries", order: "first_occurred_at, notification_key") { app, install in
            """
            SELECT d.first_occurred_at, d.notification_key, to_jsonb(d) - 'app' AS json FROM analytics.deliveries AS d
            WHERE d.install_id = '\(install)' AND d.app = \(slug(of: app))
            """
        },
        InstallHolding(kind: "install_days", order: "day") { app, install in
            """
            SELECT d.day, jsonb_build_object('install_id', d.install_id, 'day', d.day, 'first_at', d.first_at,
                'last_at', d.last_at, \(words),
                'authorization', ('{authorized,provisional,ephemeral,denied,not_determined}'::text[])[d."authorization"],
                'turned_off_at', d.turned_off_at, 'changed_at', d.changed_at) AS json
            FROM projection.opened_install_day AS d
            WHERE d.install_id = '\(install)' AND d.app = \(app)
                AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
            """
        },
        InstallHolding(kind: "goals", order: "occurred_at, event_id") { app, install in
            """
            SELECT g.occurred_at, g.event_id, to_jsonb(g) - 'app' AS json FROM analytics.goals AS g
            WHERE g.install_id = '\(install)' AND g.app = \(slug(of: app))
            """
        },
        // Where it counts: as `registry.count_experiment` does, by its days.
        InstallHolding(kind: "arms", order: "starts_at, experiment") { app, install in
            """
            SELECT e.starts_at, e.experiment, jsonb_build_object('install_id', '\(install)', 'experiment', e.experiment,
                'arm', CASE WHEN substr(sha256(convert_to(e.salt || ':\(install)', 'UTF8')), 1, 8) < e.threshold
                    THEN 'control' ELSE 'treated' END, 'starts_at', e.starts_at, 'ends_at', e.ends_at) AS json
            FROM registry.newest_experiment AS e
            WHERE e.app = \(app) AND EXISTS (
                SELECT FROM projection.opened_install_day AS d
                WHERE d.install_id = '\(install)' AND d.app = \(app) AND d.first_at < e.starts_at
                    AND d.last_at >= e.starts_at - interval '672 hours'
                    AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries'))
            """
        },
        InstallHolding(kind: "goal_touches", order: "occurred_at, seq, event_id") { app, install in
            """
            SELECT d.occurred_at, d.seq, d.event_id, to_jsonb(d) - '{app,shard,generation,kind}'::text[]
                || jsonb_build_object('touch', CASE d.kind WHEN 1 THEN 'response' ELSE 'receipt' END) AS json
            FROM projection.goal_touch AS d WHERE d.install_id = '\(install)' AND d.app = \(app) AND \(shown)
                AND d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries')
            """
        },
        InstallHolding(kind: "sealed_goals", order: "first_device_at, event_id") { app, install in
            """
            SELECT d.first_device_at, d.event_id, to_jsonb(d) - '{app,shard}'::text[] AS json
            FROM projection.sealed_goal AS d WHERE d.install_id = '\(install)' AND d.app = \(app) AND \(shown)
            """
        },
        InstallHolding(kind: "sealed_deliveries", order: "first_device_at, notification_key") { app, install in
            """
            SELECT d.first_device_at, d.notification_key, to_jsonb(d) - '{app,shard}'::text[] AS json
            FROM projection.sealed_delivery AS d WHERE d.install_id = '\(install)' AND d.app = \(app) AND \(shown)
            """
        },
        InstallHolding(kind: "sealed_install_days", order: "from_at") { app, install in
            """
            SELECT d.from_at, to_jsonb(d) - '{app,shard}'::text[] AS json
            FROM projection.sealed_install_day AS d WHERE d.install_id = '\(install)' AND d.app = \(app) AND \(shown)
            """
        },
    ]

    /// The events of the install, so that the log is read once: no index finds them.
    static let heldEvents: StaticString = "pg_temp.held_event"

    static func makeHeldEvents(app: Int32, install: UUID) -> String {
        """
        CREATE TEMPORARY TABLE held_event AS
        SELECT e.occurred_at, coalesce(e.seq, 0) AS seq, e.event_id, e.fid, to_jsonb(e) - 'app' AS json
        FROM analytics.events AS e WHERE e.install_id = '\(install)' AND e.app = \(slug(of: app));
        ANALYZE \(heldEvents)
        """
    }

    private static func slug(of app: Int32) -> String { "(SELECT slug FROM log.app WHERE id = \(app))" }

    /// A shard that has moved stands in two cells for a while; it counts in one.
    private static let shown =
        "((SELECT cluster.hidden_shards()) IS NULL OR d.shard <> ALL ((SELECT cluster.hidden_shards())::smallint[]))"

    private static let words = [
        "platform", "app_version", "os_version", "device_model", "locale", "time_zone", "muted_category",
        "muted_campaign",
    ].map { "'\($0)', (SELECT w.value FROM log.word AS w WHERE w.id = d.\($0))" }.joined(separator: ", ")

    private init(
        kind: String, order: String, _ rows: @escaping @Sendable (_ app: Int32, _ install: UUID) -> String
    ) {
        (self.kind, self.order, self.rows) = (kind, order, rows)
    }
}
