internal import EventLog
internal import Postgres
internal import Telemetry
internal import Values

/// Seals the deliveries and the days of installs that retention would take events from. Their counts move to the frozen
/// part of each table, which rebuilds keep and nothing changes any more. Their rows are deleted, and their remaining
/// events in the log no longer count. Every sum is the same before, during and after this.
struct Sealing {
    /// The most deliveries in one transaction.
    let mostDeliveries: Int32

    /// The number of the frozen tables.
    private static let frozen: Int32 = 0

    /// Seals the deliveries that have an event in a closed month, and returns how many. Run it again to continue an
    /// interrupted run.
    ///
    /// It looks at all deliveries once, since the month gets no more events. A delivery whose first or last event lies
    /// in the month has one in it. For a delivery that begins before the month and ends after it, we look into the
    /// month itself: sealing all of those would stop counting deliveries that lose nothing, since a device's clock may
    /// begin in 1970 and end today.
    func seal(_ month: Retention.ClosedMonth, on connection: inout Connection) throws -> Int {
        let (lower, upper) = Self.bounds(of: month.month)
        return try seal(.month(from: lower, to: upper), on: &connection) { live, scatter in
            [
                Self.chooseDays(
                    """
                    SELECT \(sql: Self.dayColumns) FROM projection.install_day AS d
                    WHERE d.generation = \(live) AND (
                        (\(sql: Self.firstDevice) >= \(lower) AND \(sql: Self.firstDevice) < \(upper))
                        OR (\(sql: Self.lastDevice) >= \(lower) AND \(sql: Self.lastDevice) < \(upper)))
                    UNION ALL
                    SELECT \(sql: Self.dayColumns) FROM projection.install_day AS d
                    WHERE d.generation = \(live) AND \(sql: Self.firstDevice) < \(lower) AND \(sql: Self.lastDevice) >= \(upper)
                        AND EXISTS (
                            SELECT FROM log.\(identifier: month.partition) AS e
                            WHERE \(scatter.isSameInstall("e", "d")) AND e.install_id = d.install_id AND e.app = d.app
                                AND coalesce(e.occurred_at, e.device_at) BETWEEN d.first_at AND coalesce(d.last_at, d.first_at))
                    """, live),
                """
                \(sql: Self.choose) WHERE d.generation = \(live) AND (
                    (d.first_device_at >= \(lower) AND d.first_device_at < \(upper))
                    OR (d.last_device_at >= \(lower) AND d.last_device_at < \(upper)))
                """,
                """
                \(sql: Self.choose) WHERE d.generation = \(live) AND d.first_device_at < \(lower) AND d.last_device_at >= \(upper)
                    AND EXISTS (
                        SELECT FROM log.\(identifier: month.partition) AS e
                        WHERE \(scatter.delivery("e")) = \(scatter.delivery("d"))
                        AND e.notification_key = d.notification_key AND e.install_id = d.install_id AND e.app = d.app
                            AND e.codes >> 10 & 31 <> \(Int32(EventType.goalReached.rawValue)))
                """,
            ]
        }
    }

    /// Seals the deliveries that have an event among the strays found on this connection, and returns how many.
    func sealStrays(on connection: inout Connection) throws -> Int {
        try seal(.strays, on: &connection) { live, scatter in
            [
                Self.chooseDays(
                    """
                    SELECT \(sql: Self.dayColumns) FROM projection.install_day AS d
                    WHERE d.generation = \(live) AND EXISTS (
                        SELECT FROM \(sql: Strays.table) AS e
                        WHERE \(scatter.isSameInstall("e", "d")) AND e.install_id = d.install_id AND e.app = d.app
                            AND e.device_at BETWEEN \(sql: Self.firstDevice) AND \(sql: Self.lastDevice))
                    """, live),
                """
                \(sql: Self.choose) WHERE d.generation = \(live) AND EXISTS (
                    SELECT FROM \(sql: Strays.table) AS e
                    WHERE \(scatter.delivery("e")) = \(scatter.delivery("d"))
                        AND e.notification_key = d.notification_key AND e.install_id = d.install_id AND e.app = d.app)
                """,
            ]
        }
    }

    private static let choose: StaticString = """
        INSERT INTO pg_temp.to_seal (notification_key, install_id, app, shard)
        SELECT d.notification_key, d.install_id, d.app, d.shard FROM projection.opened_delivery AS d
        """

    /// With what makes hash tables quick whatever the installs are: see `InstallDayTable.installBits`.
    private static let dayColumns: StaticString = "d.app, d.shard, d.install_id, d.day, d.key & 1099511627775 AS bits"

    private static let firstDevice: StaticString = "coalesce(d.first_device_at, d.first_at)"
    private static let lastDevice: StaticString = "coalesce(d.last_device_at, d.last_at, d.first_at)"

    /// Chooses days of installs, and those on which notifications were turned off so soon after one of them that it may
    /// hold what came last. Later days come first: such a day is sealed before what it depends on is gone.
    private static func chooseDays(_ days: Statement, _ live: Int32) -> Statement {
        // The number of the generation is the first parameter of `days`, too.
        Statement(
            """
            INSERT INTO pg_temp.days_to_seal (app, shard, install_id, day)
            WITH RECURSIVE chosen AS (
                SELECT * FROM (\(days.sql)) AS losing
                UNION
                SELECT \(dayColumns) FROM chosen AS c
                JOIN projection.install_day AS d ON \(InstallDayTable.installBits) = c.bits
                    AND d.install_id = c.install_id AND d.app = c.app
                WHERE d.generation = $1 AND d.turned_off_at IS NOT NULL
                    AND d.day > c.day AND d.day <= c.day + \(InstallDay.daysBack)
            )
            SELECT app, shard, install_id, day FROM chosen ORDER BY day DESC
            """, days.parameters)
    }

    /// Seals the days of installs and the deliveries that these statements choose, and the goals that lose their
    /// events.
    private func seal(
        _ removed: SealedGoals.Removed, on connection: inout Connection,
        _ choices: (Int32, Scatter) -> [Statement]
    ) throws -> Int {
        try find(choices, on: &connection)
        var sealed = 0
        while try connection.atomically({ connection in try sealSomeDays(on: &connection) }) {}
        while let count = try connection.atomically({ connection in try sealSome(on: &connection) }) { sealed += count }
        while let count = try connection.atomically({ connection in try sealGoals(removed, on: &connection) }) {
            sealed += count
        }
        return sealed
    }

    private func find(_ choices: (Int32, Scatter) -> [Statement], on connection: inout Connection) throws {
        try connection.atomically { connection in
            try GenerationBuilder.holdGenerations(on: &connection)
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning;
                    SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_nestloop = off;
                    DROP TABLE IF EXISTS pg_temp.to_seal;
                    CREATE TEMPORARY TABLE to_seal (
                        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, notification_key text, install_id uuid, app integer,
                        shard smallint);
                    DROP TABLE IF EXISTS pg_temp.days_to_seal;
                    CREATE TEMPORARY TABLE days_to_seal (
                        place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app integer, shard smallint, install_id uuid,
                        day date)
                    """)
            guard let live = try DeliveryTable.live(on: &connection) else { return }
            for choice in choices(live, Scatter()) { try connection.query(choice) }
        }
    }

    /// Returns nil if there are none left.
    private func sealSome(on connection: inout Connection) throws -> Int? {
        let lane = try Self.lock(on: &connection)
        let rows = try connection.query(
            """
            WITH some_rows AS (SELECT place FROM pg_temp.to_seal ORDER BY place LIMIT \(mostDeliveries))
            DELETE FROM pg_temp.to_seal AS t USING some_rows AS s WHERE t.place = s.place
            RETURNING t.notification_key, t.install_id, t.app, t.shard
            """)
        guard !rows.isEmpty else { return nil }
        return try seal(try Delivery.Name.all(rows), in: lane, on: &connection)
    }

    /// Seals those of these deliveries that are stored, and returns how many they are.
    private func seal(_ names: [Delivery.Name], in lane: Lane, on connection: inout Connection) throws -> Int {
        var live = CellChanges(of: lane.running, revising: DayRevisions(in: lane))
        var frozen = CellChanges(of: lane.running.map { ($0.projector, Self.frozen) })
        var sealed = 0
        try lane.deliveries.readAll(names, on: &connection) { stored, connection in
            let deliveries = stored.map(\.delivery)
            try live.count(Changes(removed: deliveries), on: &connection)
            try frozen.count(Changes(inserted: lane.goals.withBases(deliveries)), on: &connection)
            try lane.deliveries.delete(deliveries.map(\.name), on: &connection)
            try SealedDeliveries.remember(deliveries, on: &connection)
            sealed += deliveries.count
        }
        try SealedGoals.seal(names, in: lane.goals, on: &connection)
        try live.write(on: &connection)
        try frozen.write(on: &connection)
        return sealed
    }

    /// Seals some deliveries for which goals count that are to be removed. When there are none left, it removes the
    /// goals, and returns nil.
    private func sealGoals(_ removed: SealedGoals.Removed, on connection: inout Connection) throws -> Int? {
        let lane = try Self.lock(on: &connection)
        guard !lane.goals.apps.isEmpty else { return nil }
        try SealedGoals.find(removed, in: lane.goals, on: &connection)
        let names = try SealedGoals.deliveries(atMost: mostDeliveries, on: &connection)
        guard names.isEmpty else { return try seal(names, in: lane, on: &connection) }
        try SealedGoals.remove(from: lane.goals, on: &connection)
        return nil
    }

    /// Returns false if there are none left.
    private func sealSomeDays(on connection: inout Connection) throws -> Bool {
        let lane = try Self.lock(on: &connection)
        let rows = try connection.query(
            """
            WITH some_rows AS (SELECT place FROM pg_temp.days_to_seal ORDER BY place LIMIT \(mostDeliveries))
            DELETE FROM pg_temp.days_to_seal AS t USING some_rows AS s WHERE t.place = s.place
            RETURNING t.app, t.shard, t.install_id, t.day
            """)
        guard !rows.isEmpty else { return false }
        let days = try lane.installDays.stored(try InstallDay.Name.all(rows), on: &connection)
        var live = CellChanges(of: lane.running, revising: DayRevisions(in: lane))
        var frozen = CellChanges(of: lane.running.map { ($0.projector, Self.frozen) })
        try live.count(InstallChanges(removed: days), on: &connection)
        try frozen.count(InstallChanges(inserted: days), on: &connection)
        try live.write(on: &connection)
        try frozen.write(on: &connection)
        try lane.installDays.delete(days.map(\.name), on: &connection)
        try SealedInstallDays.remember(days, on: &connection)
        return true
    }

    /// Locks everything that is sealed from.
    private static func lock(on connection: inout Connection) throws -> Lane {
        // An unfinished generation still counts them.
        try GenerationBuilder.retireUnfinished(on: &connection)
        // If a projection has stopped, its counts of them would be lost: a rebuild would find only events that no
        // longer count.
        guard let lane = try Lane.lock(nil, of: .live, on: &connection), lane.isWhole else {
            throw StepError.stopped
        }
        return lane
    }

    private static func bounds(of month: CivilDate) -> (Timestamp, Timestamp) {
        let day: Int64 = 86_400_000_000
        let next = CivilDate(year: month.month == 12 ? month.year + 1 : month.year, month: month.month % 12 + 1, day: 1)
        return (
            Timestamp(microseconds: Int64(month.daysSince1970) * day),
            Timestamp(microseconds: Int64(next?.daysSince1970 ?? month.daysSince1970) * day)
        )
    }
}
