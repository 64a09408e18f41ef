internal import Postgres
internal import ServiceRuntime

/// One step: some shards of a generation are moved on by a range of batches, deliveries and all funnels together, in one
/// transaction. So a reader finds all of them at one position, and a step that was cut short never was.
struct Step {
    let choice: Lane.Choice
    var projectors = Projectors.all
    /// No batch after it is looked at.
    let last: Int64
    let mostShards: Int32
    let mostEvents: Int64
    var limits = Limits()

    /// What a step holds at most, whatever its events are of. Ordinary steps need a tenth, and do all at once.
    struct Limits {
        /// Bytes of stored deliveries, unless a single one has more.
        var bytes: Int32 = 4 << 20
        /// Cells of funnels that change. A single delivery may change some ten thousand.
        var cells = 32_768
        /// Seconds in which a statement that moves a single batch must end: who cannot do it fails for good.
        var patience = 600
    }

    /// How a step treats failure.
    enum Manner {
        /// As if there was none, all at once.
        case plain
        /// The fold and each projector for itself, and no more than so many batches: to find out whose failure it is, and
        /// at which batch. Of a single batch who fails stops there; of several nothing is stored (`cannotTell`). With
        /// patience, who takes too long fails as well.
        case careful(batches: Int32, isPatient: Bool = false)
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
        CrashPoint.pass("stepped")
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
        CrashPoint.pass("claimed")
        let (batches, isPatient): (Int32?, Bool) =
            if case .careful(let batches, let isPatient) = manner { (batches, isPatient) } else { (nil, false) }
        let range = try BatchRange(
            after: lane, upTo: min(last, lane.end), mostEvents: mostEvents, mostBatches: batches, on: &connection)
        guard let end = range.end else { return nil }
        let stops: [Stop]
        switch manner {
        case .plain:
            try advance(range, of: lane, counting: lane.running, apart: false, on: &connection)
            stops = []
        case .careful:
            stops = try advanceWithCare(range, of: lane, isPatient, on: &connection)
            // Nothing goes on without the fold.
            guard !stops.contains(where: { $0.name == DeliveryTable.projector }) else { return Taken(stops: stops) }
        }
        CrashPoint.pass("counted")
        try lane.move(to: end, on: &connection)
        CrashPoint.pass("moved")
        return Taken(hasMoved: true, events: range.events, stops: stops)
    }

    /// Reads the events, takes their deliveries to where they are after them, and the cells of these projectors with them.
    /// Part by part: what is held of stored deliveries and of changed cells has a limit, whatever the events are of.
    private func advance(
        _ range: BatchRange, of lane: Lane, counting projectors: [CellChanges.Target], apart: Bool,
        on connection: inout Connection
    ) throws {
        let news = try EventReader.read(range, of: lane, on: &connection)
        let sealed = try SealedDeliveries.among(news, on: &connection)
        // In the order of the index: neighbours share its pages.
        var names = news.keys.map { (key: lane.deliveries.key(of: $0), name: $0) }.sorted { $0.key < $1.key }
            .map(\.name)
        var cells = CellChanges(of: projectors, apart: apart, atMost: limits.cells)
        while !names.isEmpty {
            let part = try lane.deliveries.read(names, atMost: limits.bytes, on: &connection)
            let changes = Changes(names, news, to: part, except: sealed)
            try lane.deliveries.insert(changes.inserted, on: &connection)
            try lane.deliveries.update(changes.updated, on: &connection)
            try cells.count(changes, on: &connection)
            names = part.left
        }
        CrashPoint.pass("folded")
        try cells.write(on: &connection)
    }

    /// The same, and of a single batch finds out who cannot take it: that projector is stopped there, and the others go on
    /// without it. Gives who has stopped.
    private func advanceWithCare(
        _ range: BatchRange, of lane: Lane, _ isPatient: Bool, on connection: inout Connection
    ) throws -> [Stop] {
        var (running, stops): ([CellChanges.Target], [Stop]) = (lane.running, [])
        if isPatient {
            connection.deadline = .never
            try connection.execute(script: "SET LOCAL statement_timeout = '\(limits.patience)s'")
        }
        while true {
            try connection.execute(script: "SAVEPOINT attempt")
            let end = Deadline.after(seconds: Double(limits.patience) * 0.9)
            do {
                try advance(range, of: lane, counting: running, apart: true, on: &connection)
                try connection.execute(script: "RELEASE attempt")
                return stops
            } catch {
                let failure = StepError(error)
                // Cut short by something else, it says the same.
                let hasHadTime = isPatient && failure.isTooSlow && end.hasPassed
                guard failure.blamesProjection || hasHadTime else { throw failure }
                guard range.batches.count == 1 else {
                    throw StepError.cannotTell(batches: Int32(range.batches.count), "\(failure)")
                }
                try connection.execute(script: "ROLLBACK TO attempt")
                var failing = lane.members.map(\.name)
                if case .projector(let name, _) = failure { failing = [name] }
                for name in failing {
                    let stop = Stop(name: name, batch: lane.position + 1, reason: "\(failure)")
                    if try stop.record(in: lane.generation, on: &connection) { stops.append(stop) }
                }
                if failing.count > 1 { return stops }
                running.removeAll { target in failing == [target.projector.name] }
            }
        }
    }
}

extension Step.Stop {
    /// Where analysts and operators see it. Of two stops the earlier batch stays, and of one batch the first reason; says
    /// whether it is this one.
    func record(in generation: Int32, on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            """
            UPDATE projection.projector
            SET stopped_at = clock_timestamp(), stopped_batch = \(batch), stopped_because = \(reason)
            WHERE generation = \(generation) AND name = \(name) AND (stopped_batch IS NULL OR stopped_batch > \(batch))
            """
        ).affected == 1
    }
}
