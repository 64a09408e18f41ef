internal import Accounts
internal import EventLog
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Values

/// Moves some shards, one stage after the other.
struct ShardMove {
    /// Shards that are equally far.
    struct Stage {
        let shards: [Int16]
        /// The cell that takes their events; 0 if none does.
        let holder: Int16
        let move: ClusterMap.Move?
    }

    private let cluster: Cluster
    private let rate: Int?
    private let progress: (Cluster.MoveProgress) -> Void
    /// The seconds that no cell took the events of a stage, all tries of its switch together.
    private var refused = 0.0
    private(set) var untold: [(cell: ClusterMap.Cell, error: PostgresError)] = []

    init(in cluster: Cluster, rate: Int?, progress: @escaping (Cluster.MoveProgress) -> Void) {
        (self.cluster, self.rate, self.progress) = (cluster, rate, progress)
    }

    mutating func perform(_ stage: Stage, target: Int16) throws {
        let shards = stage.shards
        refused = 0
        guard let move = stage.move else { return try begin(shards, from: stage.holder, to: target) }
        guard move.isArriving else { return try forget(shards, in: move.other, kept: move.home) }
        if stage.holder == move.other { return try show(shards, from: move.home, to: move.other) }
        guard move.other == target else {
            // Another cell is wanted than was begun with, perhaps the old one.
            return try tell(shards, takenBy: move.home, (move.home, move.other, false))
        }
        try copy(shards, from: move.home, to: move.other)
    }

    // MARK: Stages

    private mutating func begin(_ shards: [Int16], from source: Int16, to target: Int16) throws {
        try requireNoHalfRemoved(in: source, target)
        try tell(shards, takenBy: source, (source, target, true))
        CrashPoint.pass("move begun")
        do {
            // From now on no month can be closed; one may have been in between.
            try requireNoHalfRemoved(in: source, target)
        } catch {
            try tell(shards, takenBy: source, nil)
            throw error
        }
    }

    private func requireNoHalfRemoved(in numbers: Int16...) throws {
        for number in numbers {
            let cell = try cell(number)
            let months = try cluster.working(on: cell) { connection in try ShardHistory.halfRemoved(on: &connection) }
            guard months.isEmpty else {
                throw ClusterError.halfRemoved(months: months.map(\.description), cell: cell.name)
            }
        }
    }

    private mutating func copy(_ shards: [Int16], from source: Int16, to target: Int16) throws {
        let (old, new) = (try cell(source), try cell(target))
        try prepare(shards, from: old, to: new)
        var copy = try cluster.working(on: new) { target in
            guard let copy = try ShardCopy(of: shards, on: &target) else { throw ClusterError.overtaken }
            return copy
        }
        var pace = Pace()
        for number in 0..<Self.mostSwitches {
            // Requests that were refused meanwhile come first.
            if number > 0 { pause(until: .after(seconds: Self.pauseOfSwitches)) }
            // After an interruption nobody takes the events, and the rest is copied at once.
            if cluster.map.holders[Int(shards[0])] != 0 { try chase(&copy, from: old, to: new, &pace) }
            if try exchange(&copy, from: old, to: new) { return }
        }
        throw cannotKeepUp(copy, new)
    }

    private static let mostSwitches = 10
    private static let pauseOfSwitches = 3.0
    /// The longest that no cell may take the events, before the old one gets them back.
    private static let longestSwitch = 1.5
    /// By then each step of a switch has ended, or failed since a cell stands still.
    private static let hardestSwitch = 10.0
    /// When a round of copying takes less, what is left is little enough.
    private static let shortRound = 0.3
    /// A round that takes longer than this and the one before shows that more comes in than can be copied.
    private static let longRound = 10.0

    private func prepare(_ shards: [Int16], from old: ClusterMap.Cell, to new: ClusterMap.Cell) throws {
        let history = ShardHistory(of: shards)
        let deadline = Deadline.after(seconds: 10)
        try cluster.working(on: old) { source in
            try cluster.working(on: new) { target in
                while true {
                    let left = try ShardHistory.makeMonths(from: &source, on: &target)
                    if left.isEmpty { break }
                    // A reader holds the log.
                    guard !deadline.hasPassed else {
                        throw ClusterError.noMonths(left.map(\.description), cell: new.name)
                    }
                }
                try ShardCopy.makeTables(on: &target)
                let fresh = try history.unbegun(on: &target)
                guard !fresh.isEmpty else { return }
                let history = ShardHistory(of: fresh)
                try target.transaction { target throws(PostgresError) in
                    try history.require(isComing: true, on: &target)
                    try history.bringRemovals(from: &source, on: &target)
                }
                try target.transaction { target throws(PostgresError) in
                    try target.execute(script: "SET LOCAL statement_timeout = 0")
                    try SealedShards(fresh).bring(from: &source, on: &target)
                    try history.begin(from: old.number, on: &target)
                    try history.require(isComing: true, on: &target)
                }
            }
        }
        CrashPoint.pass("arrival prepared")
    }

    /// How the rounds of a copy go.
    private struct Pace {
        /// The seconds of the last one.
        var last = Double.infinity
        /// Whether one was broken off because it took too long.
        var wasLate = false
    }

    /// Copies until little is left. Each round copies what came in during the last one. If a round takes no less time
    /// than that, another one would not either.
    private func chase(
        _ copy: inout ShardCopy, from old: ClusterMap.Cell, to new: ClusterMap.Cell, _ pace: inout Pace
    ) throws {
        let begun = Deadline.now
        var paced = 0
        while true {
            let round = Deadline.now
            let end = round.later(by: max(pace.last, Self.longRound))
            let head = try lastBatch(of: old)
            try copySome(&copy, upTo: head, from: old, to: new) { copy, found in
                progress(.copying(events: copy.events, position: copy.position, head: head))
                paced += found
                if let rate { pause(until: min(end, begun.later(by: Double(paced) / Double(rate)))) }
                guard end.hasPassed else { return true }
                // Once may have been a moment in which everything stood still.
                guard !pace.wasLate else { throw cannotKeepUp(copy, new) }
                pace.wasLate = true
                return false
            }
            let taken = Deadline.now.seconds(since: round)
            let isWorthAnother = taken > Self.shortRound && taken < pace.last
            pace.last = taken
            if !isWorthAnother { return }
        }
    }

    private func cannotKeepUp(_ copy: ShardCopy, _ cell: ClusterMap.Cell) -> ClusterError {
        .cannotKeepUp(shards: copy.shards, cell: cell.name, rate: rate)
    }

    private func lastBatch(of cell: ClusterMap.Cell) throws -> Int64 {
        try cluster.working(on: cell) { connection in try ShardHistory.lastBatch(on: &connection) }
    }

    /// Copies batches up to `last` while `goesOn` says so.
    private func copySome(
        _ copy: inout ShardCopy, upTo last: Int64, from old: ClusterMap.Cell, to new: ClusterMap.Cell,
        while goesOn: (ShardCopy, Int) throws -> Bool
    ) throws {
        try cluster.working(on: old) { source in
            try cluster.working(on: new) { target in
                while let found = try crossing({ () throws(PostgresError) in
                    try copy.step(upTo: last, from: &source, to: &target)
                }) {
                    CrashPoint.pass("batches copied")
                    guard try goesOn(copy, found) else { return }
                }
            }
        }
    }

    /// Tries again what an erasure, or a writer with an event of the same time and hash, was in the way of.
    private func crossing<Result>(_ body: () throws(PostgresError) -> Result) throws(PostgresError) -> Result {
        var backoff = Backoff(first: 0.01, most: 0.5)
        for _ in 1..<Self.mostCrossings {
            do throws(PostgresError) { return try body() } catch {
                guard error.isCrossing else { throw error }
                pause(until: .after(seconds: backoff.next()))
            }
        }
        return try body()
    }

    private static let mostCrossings = 10

    /// Takes the shards from the old cell, copies what is left, and gives them to the new one. Returns false, and the
    /// old cell has them again, if that takes too long.
    private mutating func exchange(
        _ copy: inout ShardCopy, from old: ClusterMap.Cell, to new: ClusterMap.Cell
    ) throws -> Bool {
        let shards = copy.shards
        let begun = Deadline.now
        let end = begun.later(by: Self.longestSwitch)
        let move = (home: old.number, other: new.number, isArriving: true)
        var isInTime = true
        do {
            cluster.deadline = begun.later(by: Self.hardestSwitch)
            defer { cluster.deadline = .never }
            try tell(shards, takenBy: 0, move, isHasty: true)
            CrashPoint.pass("shards let go")
            // No later batch has events of the shards, however many come in of others.
            let last = try lastBatch(of: old)
            try copySome(&copy, upTo: last, from: old, to: new) { _, _ in
                isInTime = !end.hasPassed
                return isInTime
            }
            if isInTime {
                let history = ShardHistory(of: shards)
                try cluster.working(on: old) { source in
                    try cluster.working(on: new) { target in
                        try target.transaction { target throws(PostgresError) in
                            try history.require(isComing: true, on: &target)
                            try history.bringRemovals(from: &source, on: &target)
                            try history.complete(on: &target)
                        }
                    }
                }
            }
        } catch {
            try tell(shards, takenBy: old.number, move, isHasty: true)
            throw error
        }
        CrashPoint.pass("rest copied")
        try tell(shards, takenBy: isInTime ? new.number : old.number, move, isHasty: true)
        refused += Deadline.now.seconds(since: begun)
        guard isInTime else { return false }
        progress(.switched(seconds: refused))
        let map = cluster.map
        for cell in map.cells {
            // Those who were passed over in haste.
            _ = try? cluster.on(cell) { connection throws(PostgresError) in
                try map.write(as: cell.number, knowing: shards, on: &connection)
            }
        }
        CrashPoint.pass("shards switched")
        return true
    }

    private mutating func show(_ shards: [Int16], from source: Int16, to target: Int16) throws {
        progress(.proving)
        try prove(shards, from: try cell(source), to: try cell(target))
        CrashPoint.pass("copy proved")
        try tell(shards, takenBy: target, (target, source, false))
        CrashPoint.pass("copy shown")
    }

    private mutating func forget(_ shards: [Int16], in number: Int16, kept home: Int16) throws {
        let history = ShardHistory(of: shards)
        var gone: Int64 = 0
        try cluster.working(on: try cell(number)) { connection in
            try history.forgetEvents(on: &connection) { events in
                gone += Int64(events)
                progress(.forgetting(events: gone))
                CrashPoint.pass("events forgotten")
            }
            try SealedShards(shards).remove(on: &connection)
            try history.forgetClosures(on: &connection)
            try history.endArrival(on: &connection)
        }
        try cluster.working(on: try cell(home)) { connection in try history.endArrival(on: &connection) }
        CrashPoint.pass("shards forgotten")
        try tell(shards, takenBy: home, nil)
    }

    /// Waits; nothing ends it early.
    private func pause(until moment: Deadline) { _ = Lock(()).wait(until: moment) { _ in Bool?.none } }

    // MARK: The map

    private func cell(_ number: Int16) throws(ClusterError) -> ClusterMap.Cell {
        guard let cell = cluster.map.cell(number) else { throw .unknownCell("\(number)") }
        return cell
    }

    /// Tells all cells a new map. The cells that have copies of the shards, and all hubs, must take it before anything
    /// else is done. If it `isHasty`, these cells alone are told, since everybody would wait for another one that is
    /// away. Nothing that hubs show may change by it.
    private mutating func tell(
        _ shards: [Int16], takenBy holder: Int16, _ move: (home: Int16, other: Int16, isArriving: Bool)?,
        isHasty: Bool = false
    ) throws {
        let before = shards.compactMap { cluster.map.move(of: $0) }.flatMap { [$0.home, $0.other] }
        let concerned = Set(before + [holder] + (move.map { [$0.home, $0.other] } ?? []))
        let passedOver: (ClusterMap.Cell) -> Bool = { isHasty && !concerned.contains($0.number) }
        untold = []
        for (cell, error) in try tellNext(shards, takenBy: holder, move, except: passedOver) {
            guard cell.isHub || concerned.contains(cell.number) else {
                untold.append((cell, error))
                continue
            }
            let map = cluster.map
            _ = try cluster.insisting(on: cell, waiting: { progress(.waiting(hub: cell.name)) }) {
                connection throws(PostgresError) in
                try map.write(as: cell.number, knowing: shards, on: &connection)
            }
        }
    }
}

extension ShardMove {
    /// Tells the next map. If somebody else has told one meanwhile, which leaves these shards as they are, it follows
    /// that one.
    private func tellNext(
        _ shards: [Int16], takenBy holder: Int16, _ move: (home: Int16, other: Int16, isArriving: Bool)?,
        except isPassedOver: (ClusterMap.Cell) -> Bool
    ) throws(ClusterError) -> [(cell: ClusterMap.Cell, error: PostgresError)] {
        func state() -> [String] {
            shards.map { "\(cluster.map.holders[Int($0)]) \(cluster.map.move(of: $0).debugDescription)" }
        }
        let before = state()
        for _ in 1..<Self.mostOvertakings {
            let epoch = cluster.map.epoch
            do {
                return try cluster.tell(
                    cluster.map.next(shards, takenBy: holder, move), knowing: shards, except: isPassedOver)
            } catch {
                guard case .overtaken = error else { throw error }
                cluster.followNewest()
                guard cluster.map.epoch > epoch, state() == before else { throw error }
            }
        }
        return try cluster.tell(cluster.map.next(shards, takenBy: holder, move), knowing: shards, except: isPassedOver)
    }

    private static let mostOvertakings = 10
}

// MARK: The proof

extension ShardMove {
    /// Proves that the new cell holds, counts and has sealed of the shards what the old one does.
    private func prove(_ shards: [Int16], from old: ClusterMap.Cell, to new: ClusterMap.Cell) throws {
        func fail(_ difference: String) -> ClusterError {
            .notProved(shards: shards, cell: new.name, difference: difference)
        }
        let (url, log) = (cluster.url(of: new), cluster.log)
        var control = ProjectionControl(url: url, log: log)
        control.role = nil
        try waitForErasures(shards, in: old)
        if let stopped = try control.catchUp().stopped.first {
            throw fail("the projection \(stopped.name) has stopped there at batch \(stopped.batch) (\(stopped.reason))")
        }
        let report = try Verifier().verify(
            shards: shards, lanes: 2,
            opening: { try LogSession.open(url: url, role: nil, purpose: "verify", log: log, statementSeconds: 0) })
        guard report.isProved else { throw fail("\n\(report)") }
        let history = ShardHistory(of: shards)
        let completions = try cluster.working(on: new) { target in try history.completions(on: &target) }
        guard completions.flatMap(\.shards).sorted() == shards.sorted() else {
            throw fail("what arrived of them is not complete")
        }
        for (head, shards) in completions {
            let history = ShardHistory(of: shards)
            for tries in 1... {
                let held = try cluster.working(on: old) { source in try history.content(until: .max, on: &source) }
                let copied = try cluster.working(on: new) { target in try history.content(until: head, on: &target) }
                if held == copied { break }
                // An install may have been erased in between.
                try eraseAgain(shards, from: old, in: new, by: control)
                guard tries < 3 else {
                    throw fail(
                        "'\(old.name)' has \(held.count) events of the \(ClusterError.named(shards)) "
                            + "and '\(new.name)' \(copied.count), or they say something else"
                    )
                }
            }
        }
        let sealed = try cluster.working(on: old) { source in try SealedShards(shards).content(on: &source) }
        let brought = try cluster.working(on: new) { target in try SealedShards(shards).content(on: &target) }
        if let table = sealed.keys.sorted().first(where: { sealed[$0] != brought[$0] }) {
            throw fail("what retention has sealed differs in \(table)")
        }
    }

    /// The longest that a move waits for an erasure in the old cell.
    private static let longestErasure = 300.0

    /// Waits until nothing is being erased of the shards in the old cell: what is found there later would stay in the
    /// new one.
    private func waitForErasures(_ shards: [Int16], in old: ClusterMap.Cell) throws {
        let end = Deadline.after(seconds: Self.longestErasure)
        while let erasure = try cluster.working(
            on: old, { connection in try ShardHistory(of: shards).unfinishedErasures(on: &connection).first })
        {
            guard !end.hasPassed else {
                throw ClusterError.notProved(
                    shards: shards, cell: old.name,
                    difference:
                        "the erasure of install \(erasure.install) has not ended in '\(old.name)': "
                        + "run bellwether erase for it again, then this"
                )
            }
            pause(until: .after(seconds: 0.2))
        }
    }

    /// Erases in the new cell what the old one has erased after it was copied.
    private func eraseAgain(
        _ shards: [Int16], from old: ClusterMap.Cell, in new: ClusterMap.Cell, by control: ProjectionControl
    ) throws {
        let history = ShardHistory(of: shards)
        try waitForErasures(shards, in: old)
        try cluster.working(on: old) { source in
            try cluster.working(on: new) { target in
                try target.transaction { target throws(PostgresError) in
                    try history.bringRemovals(from: &source, on: &target)
                }
            }
        }
        for (app, install) in try cluster.working(on: new, { target in try history.halfErased(on: &target) }) {
            _ = try ErasureRun(control).run(app: app, install: install, isCopy: true)
        }
    }
}
