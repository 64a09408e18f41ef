package import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
package import Values

/// Removes one install from the log and from every funnel. Afterwards the funnels are what they would be if no event of
/// it had ever arrived.
package struct ErasureRun {
    let control: ProjectionControl

    package init(_ control: ProjectionControl) {
        self.control = control
    }

    /// What was done.
    package struct Summary: Sendable {
        package let erasure: Erasure
        /// What this run has removed.
        package let own: Erasure.Counts
        /// What was removed in this database so far, by earlier runs, too.
        package let total: Erasure.Counts
        /// Projections that are stopped: they still count the install until they are resumed.
        package let stopped: [StoppedProjection]
    }

    /// `isCopy` says that another database has counted what is removed: a cell that had the events before.
    package func run(app: Int32, install: UUID, isCopy: Bool = false) throws -> Summary {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "erasure", log: control.log)
        let erasure = try Erasure.begin(app: app, install: install, on: &connection)
        let shard = Shard.of(install, among: try Shard.count(on: &connection))
        let receipt = try control.cancellation.during(&connection) { connection in
            let findings = try erasure.findEvents(on: &connection)
            return try remove(erasure, findings, in: shard, isCopy: isCopy, on: &connection)
        }
        CrashPoint.pass("install erased")
        try cleanRetired(of: erasure, on: &connection)
        return receipt
    }

    /// Removes all in one transaction.
    private func remove(
        _ erasure: Erasure, _ findings: Erasure.Findings, in shard: Int16, isCopy: Bool, on connection: inout Connection
    ) throws -> Summary {
        try connection.atomically { connection in
            // Steps lock the install's shard one after another, and this waits for its turn.
            try connection.execute(script: "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10min'")
            // An unfinished generation counts the install, or will.
            try GenerationBuilder.retireUnfinished(on: &connection)
            guard let lane = try Lane.lock([shard], of: .live, on: &connection) else {
                throw StepError.generationIsGone
            }
            // Projections of an older version count the install until they are rebuilt.
            _ = try lane.stopOlder(on: &connection)
            let log = try erasure.deleteEvents(findings, on: &connection)
            var cells = CellChanges(of: lane.running, revising: DayRevisions(in: lane))
            var deliveries: Int64 = 0
            try Self.eachPart(of: erasure, in: shard, on: &connection) { names, connection in
                try lane.deliveries.readAll(names, on: &connection) { stored, connection in
                    try cells.count(Changes(removed: stored.map(\.delivery)), on: &connection)
                    try lane.deliveries.delete(stored.map(\.delivery.name), on: &connection)
                    deliveries += Int64(stored.count)
                }
            }
            let days = try Self.days(of: erasure, in: lane, on: &connection)
            try cells.count(InstallChanges(removed: days), on: &connection)
            try lane.installDays.delete(days.map(\.name), on: &connection)
            try cells.write(on: &connection)
            for table in [lane.goals.goals, lane.goals.touches, "sealed_delivery", "sealed_install_day", "sealed_goal"]
            {
                try connection.query(
                    "DELETE FROM projection.\(identifier: table) WHERE app = \(erasure.app) AND install_id = \(erasure.install)"
                )
            }
            let own = Erasure.Counts(
                events: log.total, deliveries: deliveries, rejected: Int64(log.rejected),
                clientDrops: Int64(log.clientDrops))
            let counted = isCopy ? Erasure.Counts(events: 0, deliveries: 0, rejected: 0, clientDrops: 0) : own
            let summary = Summary(
                erasure: erasure, own: own, total: try erasure.add(counted, on: &connection),
                stopped: try StoppedProjection.all(on: &connection))
            try KeptDays.dropOutdated(of: erasure.app, on: &connection)
            return summary
        }
    }

    /// Retired tables hold data of the install until somebody drops them.
    private func cleanRetired(of erasure: Erasure, on connection: inout Connection) throws {
        let rows = try connection.query(
            """
            SELECT p.generation, p.tables_generation FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE l.state = 'retired' AND p.name = \(DeliveryTable.projector)
            """)
        for row in rows {
            let (generation, number): (Int32, Int32) = (try row.get("generation"), try row.get("tables_generation"))
            do {
                try connection.transaction { connection throws(PostgresError) in
                    try connection.execute(script: "SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on")
                    // Once its shard can be locked, no step is left that read the events before they were removed.
                    try connection.query("SELECT FROM projection.progress WHERE generation = \(generation) FOR UPDATE")
                    for table in DeliveryTable.parents {
                        try connection.query(
                            """
                            DELETE FROM projection.\(identifier: "\(table)_\(number)")
                            WHERE app = \(erasure.app) AND install_id = \(erasure.install)
                            """)
                    }
                }
            } catch {
                guard error.state == .undefinedTable else { throw error }
            }
        }
    }

    /// The days of the install. No index finds them by the install alone: the table is read once.
    private static func days(
        of erasure: Erasure, in lane: Lane, on connection: inout Connection
    ) throws -> [InstallDay] {
        let rows = try connection.query(
            """
            SELECT app, shard, install_id, day FROM projection.\(identifier: lane.installDays.name)
            WHERE app = \(erasure.app) AND install_id = \(erasure.install)
            """)
        return try lane.installDays.stored(try InstallDay.Name.all(rows), on: &connection)
    }

    /// Gives the deliveries of the erased events, so many at a time: one install may have millions. In a transaction.
    static func eachPart(
        of erasure: Erasure, in shard: Int16, most: Int = 10_000, on connection: inout Connection,
        _ body: ([Delivery.Name], inout Connection) throws -> Void
    ) throws {
        try connection.execute(
            script: """
                DECLARE erased_delivery NO SCROLL CURSOR FOR
                SELECT DISTINCT notification_key FROM \(Erasure.table) WHERE notification_key IS NOT NULL
                """)
        let fetch: String = "FETCH \(most) FROM erased_delivery"
        while true {
            let keys: [String] = try connection.query(Statement(fetch)).values()
            guard !keys.isEmpty else { break }
            try body(
                keys.map {
                    Delivery.Name(app: erasure.app, shard: shard, install: erasure.install, notificationKey: $0)
                }, &connection)
        }
        try connection.execute(script: "CLOSE erased_delivery")
    }
}
