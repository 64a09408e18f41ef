internal import Accounts
internal import EventLog
internal import Telemetry
internal import Values

/// What one writer has to store of an envelope.
struct EnvelopePart {
    let writer: Int
    let submission: Submission
    /// Where its events stand in the envelope.
    let indexes: [Int]
    /// What it costs in memory until it is committed.
    let bytes: Int
}

extension DecodedEnvelope {
    /// Splits the envelope among the writers: each install's events to its own, what has no event of its own (rejections,
    /// drop reports) along with the first.
    func parts(
        among commits: GroupCommit, bytes: Int, receivedAt: Timestamp, access: Access
    ) -> [EnvelopePart] {
        var indexes = [[Int]](repeating: [], count: commits.writerCount)
        var events = [[Event]](repeating: [], count: commits.writerCount)
        var rejected: [RejectedEvent] = []
        for (index, item) in items.enumerated() {
            switch item {
            case .event(let event):
                let writer = commits.writer(of: event.source.installID)
                indexes[writer].append(index)
                events[writer].append(event)
            case .rejected(let id, let install, let rejection):
                rejected.append(RejectedEvent(id: id, install: install, rejection: rejection, raw: raw(index)))
            }
        }
        var writers = events.indices.filter { !events[$0].isEmpty }
        if writers.isEmpty, !rejected.isEmpty || !drops.isEmpty { writers = [0] }
        return writers.enumerated().map { place, writer in
            let mine = indexes[writer]
            let submission = Submission(
                app: access.app, key: access.key, receivedAt: receivedAt, sentAt: sentAt, events: events[writer],
                rejected: place == 0 ? rejected : [], drops: place == 0 ? drops : [], install: installID,
                source: { self.rawSource.map { String(decoding: $0, as: UTF8.self) } },
                raw: { event in self.raw(mine[event]) })
            // The body once, and what each of its parts costs in memory beside it.
            let rows = mine.count + submission.rejected.count + submission.drops.count
            let copies = submission.rejected.reduce(0) { $0 + $1.raw.utf8.count }
            return EnvelopePart(
                writer: writer, submission: submission, indexes: mine,
                bytes: bytes / writers.count + copies + rows * 1024)
        }
    }

    private func raw(_ index: Int) -> String {
        String(decoding: rawEvent(index), as: UTF8.self)
    }
}
