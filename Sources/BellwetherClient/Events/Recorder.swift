internal import Foundation

/// Where drafts go: the queue on disk.
protocol Recorder: Sendable {
    /// Keeps an event for good before it returns. What goes wrong is told by diagnostics, not to the caller.
    func record(_ draft: Draft) -> Recorded
}

/// What became of an event that was recorded.
enum Recorded: Sendable {
    /// It is on the disk.
    case kept
    /// It is in memory, and comes to the disk with whatever this process does next, unless it ends before.
    case waiting
    /// It is gone.
    case lost
}

/// Writes drafts into the queue, each with what there is to say of its install.
final class QueueRecorder: Recorder {
    private let queue: Queue
    private let source: Guarded<Source>
    private let reports: Diagnostics
    private let schedule: Schedule?
    private let uptime: @Sendable () -> TimeInterval

    private struct Install {
        var known: UUID?
        /// Since when it cannot be read.
        var lostSince: TimeInterval?
    }

    private let install = Guarded(Install())
    /// For how many seconds an install id that cannot be read is hoped for: a new one seems to be another install.
    static let hope: TimeInterval = 60

    init(
        _ queue: Queue, _ source: Guarded<Source>, _ reports: Diagnostics, _ schedule: Schedule?,
        uptime: @escaping @Sendable () -> TimeInterval = DeviceClock.system.uptime
    ) {
        self.queue = queue
        self.source = source
        self.reports = reports
        self.schedule = schedule
        self.uptime = uptime
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
        try install.withLock { install throws(QueueError) in
            if let known = install.known { return known }
            let identity: Identity
            do throws(QueueError) {
                identity = try Identity(holding: queue.directory)
            } catch {
                let now = uptime()
                let since = install.lostSince ?? now
                install.lostSince = since
                guard error.isOfTheFile, now - since >= QueueRecorder.hope else { throw error }
                identity = try Identity(replacing: queue.directory)
                reports.post(
                    Diagnostic(
                        .identityLost,
                        "The install's id cannot be read: \(error). It has a new one, and seems to be another install.",
                        count: 0))
            }
            install.known = identity.installID
            return identity.installID
        }
    }
}
