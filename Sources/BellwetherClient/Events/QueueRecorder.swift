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
        if FileManager.default.fileExists(atPath: queue.directory.path) { schedule?.wake() }
    }

    func record(_ draft: Draft) -> Bool {
        do {
            let install = try installID()
            let source = source.withLock { $0 }.json(install: install)
            try queue.append(source: source) { seq in draft.json(seq: seq) }
            schedule?.wake()
            return true
        } catch {
            reports.post(
                Diagnostic(.notRecorded, "\(draft.type.rawValue) was not recorded: \(error)", eventID: "\(draft.id)"))
            return false
        }
    }

    /// Read when it is first needed: on a phone that was not unlocked since it started, it cannot be read yet.
    private func installID() throws -> UUID {
        if let known = install.withLock({ $0 }) { return known }
        let read = try Identity(queue).installID
        install.withLock { $0 = read }
        return read
    }
}
