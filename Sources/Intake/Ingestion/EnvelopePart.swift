internal import Accounts
internal import Envelopes
internal import EventLog
internal import Values

/// The part of an envelope that one writer stores.
struct EnvelopePart {
    /// The place of the writer's database in the table of destinations.
    let destination: Int
    let writer: Int
    let submission: Submission
    /// The memory that it takes until it is committed.
    let bytes: Int

    /// For the writer, which tells the collector what became of it.
    func placed(telling collector: VerdictCollector) -> GroupCommit.Placed {
        let part = GroupCommit.Part(submission: submission, bytes: bytes) { fate in collector.finish(fate) }
        return (destination, writer, part)
    }
}

extension DecodedEnvelope {
    /// Splits the envelope among the writers of all destinations, each install's events to its own. The first part also
    /// has everything without an event of its own (rejections, drop reports). Nil if nobody takes the events of one of
    /// its installs at the moment.
    func parts(among table: Destinations.Table, bytes: Int, access: Access) -> [EnvelopePart]? {
        let accepted = accepted
        if accepted.isEmpty, rejected.isEmpty, drops.isEmpty { return [] }
        // The writers of all destinations, numbered. All destinations have as many.
        let writers = table.first.commits.writerCount
        func slot(of install: UUID) -> Int? {
            table.place(of: install).map { $0 * writers + table.first.commits.writer(of: install) }
        }
        let first: Int
        if let index = accepted.first {
            guard let slot = slot(of: install(of: index)) else { return nil }
            first = slot
        } else {
            first = (installID.flatMap(table.place) ?? table.anywhere) * writers
        }
        func part(_ slot: Int, _ indexes: [Int], among parts: Int) -> EnvelopePart {
            self.part(
                for: (slot / writers, slot % writers), indexes, among: parts, bytes, access, tellsRest: slot == first)
        }
        // Mostly all of it belongs to one install.
        let count = table.all.count * writers
        if sources.count <= 1 || count == 1 { return [part(first, accepted, among: 1)] }
        var indexes = [[Int]](repeating: [], count: count)
        for index in accepted {
            guard let slot = slot(of: install(of: index)) else { return nil }
            indexes[slot].append(index)
        }
        let slots = indexes.indices.filter { !indexes[$0].isEmpty || $0 == first }
        return slots.map { part($0, indexes[$0], among: slots.count) }
    }

    private func part(
        for place: (destination: Int, writer: Int), _ indexes: [Int], among parts: Int, _ bytes: Int, _ access: Access,
        tellsRest: Bool
    ) -> EnvelopePart {
        let submission = Submission(
            app: access.app, key: access.key, envelope: self, indexes: indexes, tellsRest: tellsRest)
        // The body counts once, and each part adds its own memory.
        let copies = submission.rejected.reduce(0) { $0 + $1.raw.utf8.count }
        return EnvelopePart(
            destination: place.destination, writer: place.writer, submission: submission,
            bytes: bytes / parts + copies + submission.rows * 1024)
    }
}
