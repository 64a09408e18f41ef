internal import Foundation

/// Writes drafts into the queue, each with what there is to say of its install.
final class QueueRecorder: Recorder {
    private let queue: Queue
    private let source: Guarded<Source>
    private let reports: Diagnostics
    private let schedule: Schedule?
    private let install = Guarded<UUID?>(nil)

    init(_ queue: Queue, _ source: Guarded<Source>, _ reports: Diagnostics, _ schedule: Schedule?) {
        self.queue = queue
        self.source = source
        self.reports = reports
        self.schedule = schedule
        // What a former process left. Where there was none, nothing is made on disk before there is something to write.
        if queue.directory.isThere { schedule?.wake() }
    }

    func record(_ draft: Draft) -> Recorded {
        // As it is now, should it have to wait.
        let source = source.withLock { $0 }.description
        let entry = Entry(
            time: queue.now, source: { [self] in source.json(install: try installID()) },
            event: { seq in draft.json(seq: seq) })
        do {
            let isWritten = try queue.append(entry) != nil
            schedule?.wake()
            guard !isWritten else { return .kept }
            reports.post(
                Diagnostic(
                    .delayed,
                    """
                    \(draft.type.rawValue) waits in memory, as another process holds the queue. It is written down with \
                    the next event, flush or delivery, and is lost if this process ends before.
                    """, eventID: "\(draft.id)"))
            return .waiting
        } catch {
            reports.post(
                Diagnostic(.notRecorded, "\(draft.type.rawValue) was not recorded: \(error)", eventID: "\(draft.id)"))
            return .lost
        }
    }

    /// With the queue held. Read when it is first needed: on a phone that was not unlocked since it started, it cannot be
    /// read yet.
    private func installID() throws -> UUID {
        if let known = install.withLock({ $0 }) { return known }
        let read = try Identity(holding: queue.directory).installID
        install.withLock { $0 = read }
        return read
    }
}
