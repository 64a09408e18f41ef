internal import Postgres
internal import ServiceRuntime

/// One step: moves some shards of a generation forward by a range of batches, deliveries and all funnels together, in
/// one transaction. So readers see all of them at one position, and an interrupted step leaves no trace.
struct Step {
    let choice: Lane.Choice
    var projectors = Projectors.all
    /// The last batch that the step may take.
    let last: Int64
    let mostShards: Int32
    let mostEvents: Int64
    var limits = Limits()
    var watch: PhaseWatch<StepPhase>?
    /// What earlier steps of the lane learned of words.
    var words = EventWords()

    /// Limits of what a step holds in memory, whatever its events are. Ordinary steps write their cells at once.
    struct Limits {
        /// Bytes of stored deliveries, unless a single delivery has more.
        var bytes: Int32 = 4 << 20
        var reading = EventReader.Limits()
        /// Deliveries that are looked up, folded and written together.
        var deliveries = 8_192
        /// Cells of funnels that change. A single delivery may change some ten thousand.
        var cells = 131_072
        /// Seconds for a statement that moves a single batch: if it takes longer, its projector fails for good.
        var patience = 600
    }

    /// How a step treats failure.
    enum Manner {
        /// As if nothing could fail, everything at once.
        case plain
        /// Writes the fold and each projector separately, and takes only so many batches, to find out who fails and at
        /// which batch. If it is a single batch, the one that fails stops there; if there are several, nothing is
        /// stored (`cannotTell`). With patience, taking too long is a failure, too.
        case careful(batches: Int32, isPatient: Bool = false)
    }

    /// The result of a step.
    struct Taken {
        /// Whether the shards moved.
        var moved: Move?
        var events: Int64 = 0
        var stops: [Stop]
    }

    /// The positions before and after.
    struct Move {
        let start: Int64
        let end: Int64
    }

    /// A projector that could not go on.
    struct Stop {
        let name: String
        let batch: Int64
        let reason: String
        /// Whether older rules counted it. Then it is no error.
        var isOutdated = false
    }

    /// Takes the step; nil if there is nothing to move, or others are moving it.
    func take(_ manner: Manner, on connection: inout Connection) throws(StepError) -> Taken? {
        try take(choosing: { _ in manner }, on: &connection)
    }

    /// Does the same in the manner that is chosen for the position of the shards.
    func take(choosing manner: (Int64) -> Manner, on connection: inout Connection) throws(StepError) -> Taken? {
        watch?.enter(.claim)
        // A step that fails took its time, too.
        var isStep = true
        defer { watch?.end(counts: isStep) }
        let taken = try connection.atomically { connection in try body(manner, &connection) }
        isStep = taken != nil
        CrashPoint.pass("stepped")
        return taken
    }

    /// Takes the step within a transaction that is already open, as if nothing could fail.
    func take(within connection: inout Connection) throws -> Taken? { try body({ _ in .plain }, &connection) }

    private func body(_ chosenManner: (Int64) -> Manner, _ connection: inout Connection) throws -> Taken? {
        guard
            let lane = try Lane.claim(
                choice, of: projectors, behind: last, atMost: mostShards, on: &connection)
        else { return nil }
        try lane.refuseNewer()
        let older = try lane.stopOlder(on: &connection)
        // The next step sees them as stopped.
        guard older.isEmpty else { return Taken(stops: older) }
        guard lane.isRunning else { return nil }
        // If a month is created or dropped while a statement is planned, the statement may know only the old tables and
        // miss the rows that moved. So this locks the log first, and all later reads are consistent.
        try connection.execute(script: "LOCK TABLE log.event IN ACCESS SHARE MODE")
        CrashPoint.pass("claimed")
        let manner = chosenManner(lane.position)
        let (batches, isPatient): (Int32?, Bool) =
            if case .careful(let batches, let isPatient) = manner { (batches, isPatient) } else { (nil, false) }
        watch?.enter(.read)
        var range = try BatchRange(
            after: lane, upTo: min(last, lane.end), mostEvents: mostEvents, mostBatches: batches, on: &connection)
        guard range.end != nil else { return nil }
        let stops: [Stop]
        switch manner {
        case .plain:
            try advance(&range, of: lane, counting: lane.running, apart: false, on: &connection)
            stops = []
        case .careful:
            stops = try advanceWithCare(&range, of: lane, isPatient, on: &connection)
            // Nothing goes on without the fold.
            guard !stops.contains(where: { $0.name == DeliveryTable.projector }) else { return Taken(stops: stops) }
        }
        guard let end = range.end else { return nil }
        CrashPoint.pass("counted")
        watch?.enter(.commit)
        try lane.move(to: end, on: &connection)
        CrashPoint.pass("moved")
        return Taken(moved: Move(start: lane.position, end: end), events: range.events, stops: stops)
    }

    /// Reads the events, applies them to their deliveries, and updates the cells of these projectors. It works part by
    /// part, so memory for stored deliveries and changed cells is limited, whatever the events are.
    private func advance(
        _ range: inout BatchRange, of lane: Lane, counting projectors: [CellChanges.Target], apart: Bool,
        on connection: inout Connection
    ) throws {
        var found = try EventReader.read(&range, of: lane, words, limits.reading, on: &connection)
        watch?.enter(.fold)
        var news = found.deliveries(of: lane.deliveries)
        let goals = try found.goals(of: lane.goals)
        watch?.enter(.lookUp)
        let sealed = try SealedDeliveries.among(news, times: found.deviceTimes, on: &connection)
        let lane = try GoalBacklog.begin(
            goals?.apps ?? [:], in: lane, upTo: lane.position, counting: projectors, on: &connection)
        let former = try GoalFold.take(goals, except: sealed, in: lane.goals, on: &connection)
        if !former.isEmpty {
            let known = Set(news.map(\.name))
            news += former.keys.filter { !known.contains($0) }.map {
                DeliveryNews(key: lane.deliveries.key(of: $0), name: $0)
            }
            news.sort { $0.key < $1.key }
        }
        var cells = CellChanges(
            of: projectors, revising: DayRevisions(in: lane), apart: apart, atMost: limits.cells, watch: watch)
        for start in stride(from: 0, to: news.count, by: limits.deliveries) {
            var rest = Array(news[start..<min(start + limits.deliveries, news.count)])
            while !rest.isEmpty {
                watch?.enter(.lookUp)
                let part = try lane.deliveries.read(rest, atMost: limits.bytes, on: &connection)
                watch?.enter(.fold)
                let changes = try Changes(rest, in: found, to: part, except: sealed, former: former)
                watch?.enter(.write)
                try lane.deliveries.write(changes, on: &connection)
                watch?.enter(.fold)
                try cells.count(changes, on: &connection)
                rest = part.left.map { rest[$0] }
            }
        }
        watch?.enter(.fold)
        var installs = try found.installs(of: lane.installDays)
        watch?.enter(.lookUp)
        try SealedInstallDays.remove(from: &installs, on: &connection)
        watch?.enter(.fold)
        let days = installs.map {
            InstallChanges.Asked(key: $0.key, name: $0.name, news: InstallDayState(of: $0.sightings))
        }
        try lane.installDays.add(days, watch, on: &connection) {
            changes, connection in try cells.count(changes, on: &connection)
        }
        CrashPoint.pass("folded")
        try cells.write(on: &connection)
    }

    /// Does the same, and for a single batch finds out which projector fails. Stops that projector there, and goes on
    /// with the others. Returns the stops.
    private func advanceWithCare(
        _ range: inout BatchRange, of lane: Lane, _ isPatient: Bool, on connection: inout Connection
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
                try advance(&range, of: lane, counting: running, apart: true, on: &connection)
                try connection.execute(script: "RELEASE attempt")
                return stops
            } catch {
                let failure = StepError(error)
                // A statement that something else interrupted fails with the same error.
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
    /// Records the stop for analysts and operators. Of two stops the earlier batch is kept, and at the same batch the
    /// first reason. Returns whether this stop was kept.
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
