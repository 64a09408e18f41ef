internal import Postgres
internal import ServiceRuntime

/// One step: some shards of a line are moved on by a range of batches, deliveries and all funnels together, in one
/// transaction. So a reader finds all of them at one position, and a step that was cut short never was.
struct Step {
    let choice: Lane.Choice
    var projectors = Projectors.all
    /// No batch after it is looked at.
    let last: Int64
    let mostShards: Int32
    let mostEvents: Int64

    /// How a step treats failure.
    enum Manner {
        /// As if there was none, all at once.
        case plain
        /// The fold and each projector for itself, and no more than so many batches: to find out whose failure it is, and
        /// at which batch. Of a single batch who fails stops there; of several nothing is stored (`cannotTell`).
        case careful(batches: Int32)
    }

    /// What became of a step.
    struct Taken {
        /// Whether the shards moved.
        var hasMoved = false
        var events: Int64 = 0
        var stops: [Stop]
    }

    /// A projector that could not go on.
    struct Stop {
        let name: String
        let batch: Int64
        let reason: String
        /// Whether it was counted by older rules: nobody is to blame.
        var isOutdated = false
    }

    /// Takes it; nil when there is nothing to move, or nobody to move it.
    func take(_ manner: Manner, on connection: inout Connection) throws(StepError) -> Taken? {
        let taken = try connection.atomically { connection in try body(manner, &connection) }
        Waypoint.pass("stepped")
        return taken
    }

    /// Takes it within a transaction that is open already, as if there was no failure.
    func take(within connection: inout Connection) throws -> Taken? { try body(.plain, &connection) }

    private func body(_ manner: Manner, _ connection: inout Connection) throws -> Taken? {
        guard
            let lane = try Lane.claim(
                choice, of: projectors, behind: last, atMost: mostShards, on: &connection)
        else { return nil }
        try lane.refuseNewer()
        let older = try lane.stopOlder(on: &connection)
        // The next step knows them as stopped.
        guard older.isEmpty else { return Taken(stops: older) }
        guard lane.isRunning else { return nil }
        // A statement that is planned while a month is made, or dropped, may know only the tables of before, and would miss
        // the rows that moved. So all are held first, and what is read hereafter goes together.
        try connection.execute(script: "LOCK TABLE log.event IN ACCESS SHARE MODE")
        Waypoint.pass("claimed")
        let batches: Int32? = if case .careful(let batches) = manner { batches } else { nil }
        let range = try BatchRange(
            after: lane, upTo: min(last, lane.end), mostEvents: mostEvents, mostBatches: batches, on: &connection)
        guard let end = range.end else { return nil }
        var stops: [Stop] = []
        switch manner {
        case .plain:
            try Self.write(try fold(range, of: lane, on: &connection), of: lane.running, on: &connection)
        case .careful:
            var culprit = Culprit(lane: lane, range: range)
            guard let changes = try culprit.attempt(on: &connection, { try fold(range, of: lane, on: &$0) }) else {
                // Nothing goes on without the fold.
                return Taken(stops: try culprit.stop(lane.members.map(\.name), on: &connection))
            }
            for projector in lane.running {
                let written: Void? = try culprit.attempt(on: &connection) { connection in
                    try Self.write(changes, of: [projector], on: &connection)
                }
                if written == nil { stops += try culprit.stop([projector.projector.name], on: &connection) }
            }
        }
        Waypoint.pass("counted")
        try lane.move(to: end, on: &connection)
        Waypoint.pass("moved")
        return Taken(hasMoved: true, events: range.events, stops: stops)
    }

    /// Reads the events and brings the deliveries to where they are after them; gives what changed.
    private func fold(
        _ range: BatchRange, of lane: Lane, on connection: inout Connection
    ) throws -> Changes {
        let news = try EventReader.read(range, of: lane, on: &connection)
        // In the order of the index: neighbours share its pages.
        let names = news.keys.map { (key: lane.deliveries.key(of: $0), name: $0) }.sorted { $0.key < $1.key }.map(
            \.name)
        let stored = names.isEmpty ? [:] : try lane.deliveries.read(names, on: &connection)
        let sealed = try SealedDeliveries.among(news, on: &connection)
        let changes = Changes(names, news, to: stored, except: sealed)
        try lane.deliveries.insert(changes.inserted, on: &connection)
        try lane.deliveries.update(changes.updated, on: &connection)
        Waypoint.pass("folded")
        return changes
    }

    /// Adds what deliveries changed to the cells of these projectors.
    static func write(
        _ changes: Changes, of projectors: [(projector: any Projector.Type, tables: Int32)],
        on connection: inout Connection
    ) throws(PostgresError) {
        let tallies = changes.tallies(of: projectors.map { projector, _ in projector })
        let statements = zip(projectors, tallies).flatMap { member, tallies in
            tallies.compactMap { $0.upsert(into: member.tables) }
        }
        if !statements.isEmpty { _ = try connection.pipeline(statements) }
    }
}
