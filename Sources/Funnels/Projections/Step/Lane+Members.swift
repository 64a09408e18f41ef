internal import Postgres

/// Which projectors of a generation a lane moves.
///
/// A projector that stopped at a batch still takes earlier batches in shards that are further behind. So in all shards
/// it has exactly the batches before that one.
extension Lane {
    /// Whether the projector runs in these shards: it has not stopped, or only at a batch that all of them have yet to
    /// reach.
    private func carries(_ member: Member) -> Bool { member.stoppedBatch.map { furthest < $0 - 1 } ?? true }

    /// Whether the fold itself runs; nothing moves without it.
    var isRunning: Bool {
        members.contains {
            $0.name == DeliveryTable.projector && carries($0) && $0.version == DeliveryTable.version
        }
    }

    /// The projectors of this program that run in these shards, with the numbers of their tables.
    var running: [CellChanges.Target] {
        projectors.compactMap { projector in
            members.first { $0.name == projector.name && $0.version == projector.version && carries($0) }
                .map { (projector, $0.tablesGeneration) }
        }
    }

    /// The last batch that a step may take: after it other projectors run.
    var end: Int64 {
        members.compactMap { member in carries(member) ? member.stoppedBatch.map { $0 - 1 } : nil }.min() ?? .max
    }

    /// Throws if a running projector is newer than this program: it must not be left behind.
    func refuseNewer() throws(StepError) {
        let versions = Projectors.versions(of: projectors)
        for member in members where carries(member) && member.version > versions[member.name] ?? 0 {
            throw .tooNew(member.name, version: member.version)
        }
    }

    /// Stops the projectors whose tables an older version counted, in all shards: this program cannot continue them.
    func stopOlder(on connection: inout Connection) throws(PostgresError) -> [Step.Stop] {
        let versions = Projectors.versions(of: projectors)
        let older = members.filter { $0.stoppedBatch == nil && $0.version < versions[$0.name] ?? 0 }
        guard !older.isEmpty else { return [] }
        let behind: Int64 = try connection.query(
            "SELECT min(position) FROM projection.progress WHERE generation = \(generation)"
        ).value()
        let fold = older.first { $0.name == DeliveryTable.projector }
        var stops: [Step.Stop] = []
        for member in fold == nil ? older : members {
            let cause = fold ?? member
            let stop = Step.Stop(
                name: member.name, batch: behind + 1,
                reason:
                    "the tables of \(cause.name) were counted by version \(cause.version) of its rules, "
                    + "and this program "
                    + "counts by version \(versions[cause.name] ?? 0)", isOutdated: true)
            if try stop.record(in: generation, on: &connection) { stops.append(stop) }
        }
        return stops
    }

    /// The same lane with every projector either running or stopped in all its shards. If a projector stopped at a
    /// batch that only some of the shards have reached, it now stops where the last shard is. For changes that affect
    /// all shards at once.
    func settled(on connection: inout Connection) throws(PostgresError) -> Lane {
        var members = members
        for index in members.indices {
            guard let batch = members[index].stoppedBatch, position < batch - 1, furthest >= batch - 1 else { continue }
            members[index].stoppedBatch = position + 1
            try connection.query(
                """
                UPDATE projection.projector SET stopped_batch = \(position + 1)
                WHERE generation = \(generation) AND name = \(members[index].name)
                """)
        }
        return Lane(
            generation: generation, shards: shards, position: position, furthest: furthest, members: members,
            projectors: projectors, deliveries: deliveries, installDays: installDays)
    }
}
