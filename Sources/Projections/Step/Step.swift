internal import Postgres

/// One step: some shards of a line are moved on by a range of batches, deliveries and all funnels together, in one
/// transaction. So a reader finds all of them at one position, and a step that was cut short never was.
struct Step {
    let choice: Lane.Choice
    /// No batch after it is looked at.
    let last: Int64
    let mostShards: Int32
    let mostEvents: Int64

    /// How a step treats failure.
    enum Manner {
        /// As if there was none, all at once.
        case plain
        /// Each projector for itself, and no more than so many batches: to find out whose failure it is, and at which
        /// batch.
        case careful(batches: Int32)
    }

    /// What became of a step.
    struct Taken {
        let lane: Lane
        let end: Int64
        let events: Int64
        let stops: [Stop]
    }

    /// A projector that could not go on.
    struct Stop {
        let name: String
        let batch: Int64
        let reason: String
    }

    /// Takes it; nil when there is nothing to move, or nobody to move it.
    func take(_ manner: Manner, on connection: inout Connection) throws(StepError) -> Taken? {
        try connection.atomically { connection in try body(manner, &connection) }
    }

    /// Takes it within a transaction that is open already, as if there was no failure.
    func take(within connection: inout Connection) throws -> Taken? { try body(.plain, &connection) }

    private func body(_ manner: Manner, _ connection: inout Connection) throws -> Taken? {
        guard let lane = try Lane.claim(choice, behind: last, atMost: mostShards, on: &connection), lane.isRunning
        else { return nil }
        let batches: Int32? = if case .careful(let batches) = manner { batches } else { nil }
        let range = try BatchRange(
            after: lane, upTo: last, mostEvents: mostEvents, mostBatches: batches, on: &connection)
        guard let end = range.end else { return nil }
        let news = try EventReader.read(range, of: lane, on: &connection)
        // In the order of the index: neighbours share its pages.
        let names = news.keys.sorted { $0.notificationKey < $1.notificationKey }
        let stored = names.isEmpty ? [:] : try DeliveryTable.read(names, from: lane.deliveries, on: &connection)
        let sealed = try DeliveryTable.sealed(among: names, on: &connection)
        let changes = Changes(names, news, to: stored, except: sealed)
        try DeliveryTable.insert(changes.inserted, into: lane.deliveries, on: &connection)
        try DeliveryTable.update(changes.updated, in: lane.deliveries, on: &connection)
        var stops: [Stop] = []
        switch manner {
        case .plain: try Self.write(changes, of: lane.running, on: &connection)
        case .careful: stops = try Self.writeOneByOne(changes, of: lane, at: end, on: &connection)
        }
        // Which batch it was is known when there is but one.
        if !stops.isEmpty, range.batches.count > 1 { throw StepError.cannotTell(stops[0].reason) }
        try lane.move(to: end, on: &connection)
        return Taken(
            lane: lane, end: end, events: range.batches.reduce(0) { $0 + $1.events }, stops: stops)
    }

    /// Adds what deliveries changed to the cells of these projectors.
    static func write(
        _ changes: Changes, of projectors: [(projector: any Projector.Type, tables: Int32)],
        on connection: inout Connection
    ) throws(PostgresError) {
        let statements = projectors.flatMap { projector, tables in
            changes.tallies(of: projector).compactMap { $0.upsert(into: tables) }
        }
        if !statements.isEmpty { _ = try connection.pipeline(statements) }
    }

    /// Writes what each projector counts, and takes out those that cannot be written.
    private static func writeOneByOne(
        _ changes: Changes, of lane: Lane, at batch: Int64, on connection: inout Connection
    ) throws(PostgresError) -> [Stop] {
        var stops: [Stop] = []
        for projector in lane.running {
            try connection.execute(script: "SAVEPOINT projector")
            do {
                try write(changes, of: [projector], on: &connection)
                try connection.execute(script: "RELEASE projector")
            } catch {
                guard !error.isRetriable else { throw error }
                try connection.execute(script: "ROLLBACK TO projector")
                let stop = Stop(name: projector.projector.name, batch: batch, reason: "\(error)")
                try stop.record(in: lane.line, on: &connection)
                stops.append(stop)
            }
        }
        return stops
    }
}

extension Step.Stop {
    /// Where analysts and operators see it. The first reason stays.
    func record(in line: Int32, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            UPDATE projection.projector
            SET stopped_at = clock_timestamp(), stopped_batch = \(batch), stopped_because = \(reason)
            WHERE line = \(line) AND name = \(name) AND stopped_at IS NULL
            """)
    }
}
