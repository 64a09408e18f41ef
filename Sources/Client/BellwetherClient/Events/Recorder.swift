internal import Foundation

/// Where drafts go, for example the queue on disk.
protocol Recorder: Sendable {
    /// Stores an event before it returns. Diagnostics, not the caller, learn of problems.
    func record(_ draft: Draft) -> Recorded
}

/// The result of recording an event.
enum Recorded: Sendable {
    /// It is on the disk.
    case kept
    /// It is in memory. This process writes it to disk the next time it uses the queue, unless it ends before that.
    case waiting
    /// It is lost.
    case lost
}

/// Writes drafts into the queue, each with a description of its install.
final class QueueRecorder: Recorder {
    private let queue: Queue
    private let source: Guarded<Source>
    private let reports: Diagnostics
    private let schedule: Schedule?
    private let uptime: @Sendable () -> TimeInterval

    private struct Install {
        /// The id, and the file that it was read from: another process may delete it.
        var known: (id: UUID, file: FileFacts?)?
        /// Since when the install id has been unreadable.
        var lostSince: TimeInterval?
    }

    private let install = Guarded(Install())
    /// How many seconds to wait for an unreadable install id before creating a new one, which looks like another
    /// install.
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
        // Deliver what a former process left. If there is no directory, do not create it before there is something to
        // write.
        if queue.directory.isThere { schedule?.wake() }
    }

    func record(_ draft: Draft) -> Recorded {
        // Take the source as it is now, in case the event has to wait.
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
        } catch QueueError.optedOut {
            return .lost
        } catch {
            reports.post(
                Diagnostic(.notRecorded, "\(draft.type.rawValue) was not recorded: \(error)", eventID: "\(draft.id)"))
            return .lost
        }
    }

    /// Call with the queue held. The id is read when it is first needed: before the first unlock after a restart, a
    /// phone cannot read it yet.
    private func installID() throws -> UUID {
        try install.withLock { install throws(QueueError) in
            let file = FileFacts(path: queue.directory.install)
            if let known = install.known, let file, known.file == file { return known.id }
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
            install.known = (identity.installID, FileFacts(path: queue.directory.install))
            return identity.installID
        }
    }
}
