internal import Accounts
internal import EventLog
internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// Rebuilds funnels from the log beside the live ones, verifies them, and swaps the two, while ingestion and readers go
/// on. An interrupted rebuild continues when it is run again.
package struct Rebuild {
    let control: ProjectionControl
    let projectors: [any Projector.Type]
    /// Whether the deliveries are rebuilt, and with them all funnels.
    let isComplete: Bool

    /// Rebuilds these projectors, or all of them and the deliveries that they count.
    package init(_ control: ProjectionControl, names: [String]) throws(UnknownProjector) {
        self.control = control
        isComplete = names.isEmpty || names.contains(DeliveryTable.projector)
        for name in names where name != DeliveryTable.projector {
            guard control.projectors.contains(where: { $0.name == name }) else {
                throw UnknownProjector(name: name, known: control.projectors.map { $0.name })
            }
        }
        let complete = isComplete
        projectors = control.projectors.filter { complete || names.contains($0.name) }
    }

    package struct UnknownProjector: Error, CustomStringConvertible {
        package let name: String
        let known: [String]
        package var description: String {
            let known = ([DeliveryTable.projector] + known).joined(separator: ", ")
            return "no projection '\(String(printable: name))'. The projections are: \(known)"
        }
    }

    /// What the rebuild is doing.
    package enum Phase: Sendable {
        /// The batch being folded, and the last one.
        case folding(Int64, of: Int64)
        case verifying(shard: Int, of: Int)
        case swapping
    }

    /// How it ended.
    package enum Completion: Sendable {
        /// The new tables are live. Old tables that somebody still reads are left for the next time.
        case swapped(events: Int64, deliveries: Int64, leftTables: Int)
        /// The new tables differ from the recount. If that was found before the swap, nothing was swapped; if after,
        /// the old tables were not dropped.
        case differs(VerificationReport, isSwapped: Bool)
        /// The new tables could not take a batch; nothing was swapped.
        case stopped([StoppedProjection])
    }

    package func run(progress: @escaping @Sendable (Phase) -> Void) throws -> Completion {
        var backoff = Backoff(first: 0.1, most: 5)
        for _ in 1..<Self.mostAttempts {
            do { return try attempt(progress) } catch StepError.generationIsGone {
                control.log.info("the log's history changed, or another rebuild began: starting again")
                // Retention changes history again and again, a few thousand deliveries at a time.
                _ = Lock(()).wait(until: .after(seconds: backoff.next())) { _ in Bool?.none }
            }
        }
        return try attempt(progress)
    }

    private static let mostAttempts = 10

    private func attempt(_ progress: @escaping @Sendable (Phase) -> Void) throws -> Completion {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "rebuild", log: control.log)
        if !isComplete {
            if let stopped = try foldStop(&connection) { return .stopped([stopped]) }
            // The new funnels count the live deliveries, so these first move to their right days.
            for change in try ZoneChange.pending(.noted, on: &connection) {
                _ = try control.cancellation.during(&connection) { connection in try change.make(on: &connection) }
            }
        }
        _ = try RetiredGenerations.drop(control.projectors, on: &connection)
        let generation = try GenerationBuilder.begin(projectors, on: &connection)
        CrashPoint.pass("generation begun")
        try level(generation, &connection, progress)
        CrashPoint.pass("level")
        let stopped = try StoppedProjection.all(of: generation, on: &connection)
        guard stopped.isEmpty else {
            try GenerationBuilder.retire(generation, on: &connection)
            _ = try RetiredGenerations.drop(control.projectors, on: &connection)
            return .stopped(stopped)
        }
        let proof = try prove(generation, progress)
        guard proof.isProved else {
            // History or an app's time zone may have changed during the recount.
            guard try GenerationBuilder.isBuilding(generation, on: &connection) else {
                throw StepError.generationIsGone
            }
            try GenerationBuilder.retire(generation, on: &connection)
            return .differs(proof, isSwapped: false)
        }
        CrashPoint.pass("proved")
        // Catches up with batches that arrived meanwhile, so that the swap, for which everybody waits, is short.
        try level(generation, &connection, progress)
        if !isComplete {
            _ = try control.catchUp()
            if let stopped = try foldStop(&connection) { return .stopped([stopped]) }
        }
        progress(.swapping)
        try GenerationBuilder.swap(generation, all: isComplete, of: control.projectors, on: &connection)
        CrashPoint.pass("swapped")
        let shard = Int16.random(in: 0..<(try Shard.count(on: &connection)))
        let sample = try verify(
            .live, shards: [shard], withDeliveries: isComplete, progress: progress)
        // Apps whose days have been moving since then are not compared.
        let isSwapProved = sample.differing.isEmpty && sample.gapCount == 0
        guard isSwapProved else { return .differs(sample, isSwapped: true) }
        return .swapped(
            events: proof.events, deliveries: proof.deliveries,
            leftTables: try RetiredGenerations.drop(control.projectors, on: &connection))
    }

    /// The stop of the live fold, if it has one: then single funnels cannot catch up with it.
    private func foldStop(_ connection: inout Connection) throws(PostgresError) -> StoppedProjection? {
        try StoppedProjection.all(on: &connection).first { $0.name == DeliveryTable.projector }
    }

    /// Moves the new generation to the present head of the log.
    private func level(
        _ generation: Int32, _ connection: inout Connection, _ progress: @escaping @Sendable (Phase) -> Void
    ) throws {
        let backlog = try Backlog.read(.building(generation), on: &connection)
        let head = backlog.head
        // Reports the position from which it continues, even if there is nothing left to do.
        if backlog.position != nil { progress(.folding(backlog.meanPosition, of: head)) }
        let catchUp = CatchUp(
            url: control.url, role: nil, choice: .building(generation), projectors: control.projectors,
            lanes: control.lanes,
            mostEvents: control.mostEvents, log: control.log, cancellation: control.cancellation)
        try catchUp.run(to: head) { position in progress(.folding(position, of: head)) }
    }

    private func prove(
        _ generation: Int32, _ progress: @escaping @Sendable (Phase) -> Void
    ) throws -> VerificationReport {
        do { return try verify(.number(generation), progress: progress) } catch VerifierError.unknownGeneration {
            throw StepError.generationIsGone
        }
    }

    private func verify(
        _ generation: Verifier.Generation, shards: [Int16]? = nil, withDeliveries: Bool = true,
        progress: @escaping @Sendable (Phase) -> Void
    ) throws -> VerificationReport {
        // A generation has only the projectors that it was built for. To the live one we add only funnels, so its
        // deliveries, which may differ, are not our concern.
        let names = projectors.map { $0.name } + (withDeliveries ? [DeliveryTable.projector] : [])
        let verifier = Verifier(recounts: Recounts.all(of: projectors).filter { names.contains($0.projector) })
        let (url, log) = (control.url, control.log)
        return try verifier.verify(
            generation, shards: shards, lanes: control.lanes, cancellation: control.cancellation,
            opening: { try LogSession.open(url: url, role: nil, purpose: "verify", log: log, statementSeconds: 0) },
            progress: { step in progress(.verifying(shard: step.place, of: step.count)) })
    }
}
