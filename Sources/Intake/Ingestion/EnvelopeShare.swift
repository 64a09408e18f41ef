internal import Accounts
internal import Envelopes
internal import EventLog
internal import Values

/// The events of an envelope that one writer stores.
struct EnvelopeShare {
    /// The place of the writer's database in the table of destinations.
    let destination: Int
    let writer: Int
    /// The indexes of its events in the envelope, in order.
    let indexes: [Int]
    /// Whether it also has everything without an event of its own (rejections, drop reports).
    let tellsRest: Bool
}

extension DecodedEnvelope {
    /// Splits the envelope among the writers of all destinations, each install's events to its own. The first share
    /// tells the rest. Nil if nobody takes the events of one of its installs at the moment.
    func shares(among table: Destinations.Table) -> [EnvelopeShare]? {
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
        func share(_ slot: Int, _ indexes: [Int]) -> EnvelopeShare {
            EnvelopeShare(
                destination: slot / writers, writer: slot % writers, indexes: indexes, tellsRest: slot == first)
        }
        // Mostly all of it belongs to one install.
        let count = table.all.count * writers
        if sources.count <= 1 || count == 1 { return [share(first, accepted)] }
        var indexes = [[Int]](repeating: [], count: count)
        for index in accepted {
            guard let slot = slot(of: install(of: index)) else { return nil }
            indexes[slot].append(index)
        }
        return indexes.indices.filter { !indexes[$0].isEmpty || $0 == first }.map { share($0, indexes[$0]) }
    }
}

extension GroupCommit.Part {
    /// A share of an envelope, for its writer, which tells the collector what became of it. `bytes` is its part of the
    /// body.
    init(
        _ share: EnvelopeShare, of envelope: DecodedEnvelope, bytes: Int, _ access: Access,
        telling collector: VerdictCollector
    ) {
        let submission = Submission(
            app: access.app, key: access.key, envelope: envelope, indexes: share.indexes, tellsRest: share.tellsRest)
        // The body counts once, and each part adds its own memory.
        let copies = submission.rejected.reduce(0) { $0 + $1.raw.utf8.count }
        self.init(
            destination: share.destination, writer: share.writer, submission: submission,
            bytes: bytes + copies + submission.rows * 1024
        ) { fate in collector.finish(fate) }
    }
}
