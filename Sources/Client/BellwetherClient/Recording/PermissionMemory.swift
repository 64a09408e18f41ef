internal import Foundation

/// The permission and the settings that app and extensions know of, in a file of the directory that they share.
///
/// A change is written down before its event is recorded, with the event's id and time. If the process ends in between,
/// the event is recorded again with the same id and time, so it counts once.
final class PermissionMemory: Sendable {
    struct Known: Codable, Hashable, Sendable {
        var authorization: String?
        var previews: String?
        var settings: Bellwether.Settings?
        var pending: [Change]?
    }

    /// A change whose event may not be recorded yet.
    struct Change: Codable, Hashable, Sendable {
        let id: String
        let at: Int64
        /// Nil if the settings changed: the event's source says what they are.
        var authorization: String?
        var previous: String?
    }

    private let file: SmallFile
    private let turn = NSLock()

    init(file: URL?) { self.file = SmallFile(url: file) }

    func read() -> Known? { file.read().flatMap { try? JSONDecoder().decode(Known.self, from: $0) } }

    /// Reads, changes and writes; one thread at a time.
    func update(_ body: (inout Known?) -> Void) {
        turn.lock()
        defer { turn.unlock() }
        var known = read()
        body(&known)
        write(known)
    }

    /// Writes in the midst of an update.
    func write(_ known: Known?) {
        guard known != read(), let known, let data = try? JSONEncoder().encode(known) else { return }
        file.write(data)
    }
}

extension Bellwether {
    /// What the library does when the app comes to the front: it records that, if the app wants it, reads the
    /// permission, records a change of it, and sweeps the notification centre.
    func lookAround() {
        guard isRecording else { return }
        recordAppOpen()
        guard let system else { return }
        readSettings()
        system.sweep(self)
    }

    /// Reads what the person allows, and records a change of it.
    func readSettings() { system?.permission { [self] permission in learn(permission) } }

    /// Takes the person's permission from the system, and records a change of it.
    func learn(_ permission: Permission) {
        source.withLock { source in
            source.authorization = permission.authorization ?? source.authorization
            source.previews = permission.previews ?? source.previews
            source.settings = permission.settings ?? source.settings
        }
        guard isRecording else { return }
        memory.update { known in
            // A former process may have ended before its events were on disk. The next changes wait for them.
            guard recordPending(&known) else { return }
            let changes = known.map { self.changes(to: permission, from: $0) } ?? []
            // What is seen for the first time is no change.
            known = PermissionMemory.Known(
                authorization: permission.authorization?.rawValue ?? known?.authorization,
                previews: permission.previews?.rawValue ?? known?.previews,
                settings: permission.settings ?? known?.settings, pending: changes.isEmpty ? nil : changes)
            guard !changes.isEmpty else { return }
            memory.write(known)
            _ = recordPending(&known)
        }
    }

    private func changes(to permission: Permission, from known: PermissionMemory.Known) -> [PermissionMemory.Change] {
        let at = clock.now
        var changes: [PermissionMemory.Change] = []
        if let new = permission.authorization?.rawValue, let old = known.authorization, new != old {
            changes.append(
                PermissionMemory.Change(
                    id: "\(EventID(at: at))", at: at.milliseconds, authorization: new, previous: old))
        }
        if let new = permission.settings, let old = known.settings, new != old {
            changes.append(PermissionMemory.Change(id: "\(EventID(at: at))", at: at.milliseconds))
        }
        return changes
    }

    /// Records what is pending. Returns whether all of it is on disk.
    private func recordPending(_ known: inout PermissionMemory.Known?) -> Bool {
        while let change = known?.pending?.first {
            guard record(change) else { return false }
            known?.pending?.removeFirst()
        }
        known?.pending = nil
        return true
    }

    /// Returns whether the event is on disk.
    private func record(_ change: PermissionMemory.Change) -> Bool {
        guard let id = EventID(change.id) else { return true }
        var members: [JSONValue.Field] = []
        members.add("authorization", change.authorization)
        members.add("previous", change.previous)
        let draft = Draft(
            id: id, type: change.authorization == nil ? .settingsChanged : .permissionChanged,
            at: Moment(milliseconds: change.at), notification: nil, members: members)
        return write(draft) == .kept
    }
}
