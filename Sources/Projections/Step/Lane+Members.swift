internal import Postgres

/// Who of a generation goes along with a lane.
///
/// A projector that stopped at a batch still takes those before it, in the shards that stood further behind when it stopped:
/// so what it holds is the same everywhere, every batch before that one.
extension Lane {
    /// Whether all these shards stand before the batch at which the projector stopped, or it has not.
    private func carries(_ member: Member) -> Bool { member.stoppedBatch.map { furthest < $0 - 1 } ?? true }

    /// Whether the fold itself goes on; nothing moves without it.
    var isRunning: Bool {
        members.contains {
            $0.name == DeliveryTable.projector && carries($0) && $0.version == DeliveryTable.version
        }
    }

    /// The projectors of this program that go on in these shards, with the numbers of their tables.
    var running: [CellChanges.Target] {
        projectors.compactMap { projector in
            members.first { $0.name == projector.name && $0.version == projector.version && carries($0) }
                .map { (projector, $0.tablesGeneration) }
        }
    }

    /// No batch after it is taken in one step with those before it, since who goes along changes there.
    var end: Int64 {
        members.compactMap { member in carries(member) ? member.stoppedBatch.map { $0 - 1 } : nil }.min() ?? .max
    }

    /// Throws when a projector that goes on is one that this program does not know: it must not be left behind.
    func refuseNewer() throws(StepError) {
        let versions = Projectors.versions(of: projectors)
        for member in members where carries(member) && member.version > versions[member.name] ?? 0 {
            throw .tooNew(member.name, version: member.version)
        }
    }

    /// Stops those whose tables hold what an older version counted: this program cannot go on with them. It holds for all
    /// shards at once.
    func stopOlder(on connection: inout Connection) throws(PostgresError) -> [Step.Stop] {
        let versions = Projectors.versions(of: projectors)
        let older = members.filter { $0.stoppedBatch == nil && $0.version < versions[$0.name] ?? 0 }
        guard !older.isEmpty else { return [] }
        let behind: Int64 = try connection.query(
            "SELECT min(position) FROM projection.progress WHERE generation = \(generation)")[0].get(0)
        let fold = older.first { $0.name == DeliveryTable.projector }
        var stops: [Step.Stop] = []
        for member in fold == nil ? older : members {
            let cause = fold ?? member
            let stop = Step.Stop(
                name: member.name, batch: behind + 1,
                reason:
                    "the tables of \(cause.name) were counted by version \(cause.version) of its rules, and this program "
                    + "counts by version \(versions[cause.name] ?? 0)", isOutdated: true)
            if try stop.record(in: generation, on: &connection) { stops.append(stop) }
        }
        return stops
    }

    /// The same lane with nobody in between: who stopped at a batch that some of these shards have yet to reach and others
    /// are past is stopped where the last of them stands. For changes that touch all of them in one stroke.
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
            projectors: projectors, deliveries: deliveries)
    }
}
