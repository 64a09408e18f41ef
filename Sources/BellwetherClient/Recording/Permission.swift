internal import Foundation

/// What the person allows, as the system's settings say.
struct Permission: Sendable, Hashable {
    var authorization: Bellwether.Authorization?
    var previews: Bellwether.Previews?
}

/// What the library asks the system's notification centre.
struct SystemCenter: Sendable {
    var permission: @Sendable (_ answer: @escaping @Sendable (Permission) -> Void) -> Void
    /// Reads the notifications in the notification centre, and sweeps them.
    var sweep: @Sendable (Bellwether) -> Void
}

/// The permission that app and extensions know of, in a file of the directory that they share.
///
/// A change is written down before its event is recorded, with the event's id and time. If the process ends in between, the
/// event is recorded again with the same id and time, so it counts once.
final class PermissionMemory: Sendable {
    struct Known: Codable, Hashable, Sendable {
        var authorization: String?
        var previews: String?
        var pending: Change?
    }

    /// A change whose event may not be recorded yet.
    struct Change: Codable, Hashable, Sendable {
        let id: String
        let at: Int64
        let authorization: String
        let previous: String
    }

    private let file: URL?
    private let turn = NSLock()

    init(file: URL?) { self.file = file }

    func read() -> Known? {
        guard let file, let data = try? Data(contentsOf: file) else { return nil }
        return try? JSONDecoder().decode(Known.self, from: data)
    }

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
        guard known != read(), let file, let known, let data = try? JSONEncoder().encode(known) else { return }
        try? data.write(to: file, options: SweptNotifications.writing)
    }
}

extension Bellwether {
    /// What the library does when the app comes to the front: it reads the permission, records a change of it, and sweeps the
    /// notification centre.
    func lookAround() {
        guard isRecording, let system else { return }
        system.permission { [self] permission in learn(permission) }
        system.sweep(self)
    }

    /// Takes the person's permission from the system, and records a change of it.
    func learn(_ permission: Permission) {
        source.withLock { source in
            source.authorization = permission.authorization ?? source.authorization
            source.previews = permission.previews ?? source.previews
        }
        guard isRecording else { return }
        memory.update { known in
            if let change = known?.pending {
                // A former process may have ended before its event was on disk. The next change waits for it.
                guard record(change) else { return }
                known?.pending = nil
            }
            guard let authorization = permission.authorization?.rawValue else { return }
            let previous = known?.authorization
            known = PermissionMemory.Known(
                authorization: authorization, previews: permission.previews?.rawValue ?? known?.previews)
            // What is seen for the first time is no change.
            guard let previous, previous != authorization else { return }
            let at = clock.now
            let change = PermissionMemory.Change(
                id: "\(EventID(at: at))", at: at.milliseconds, authorization: authorization, previous: previous)
            known?.pending = change
            memory.write(known)
            if record(change) { known?.pending = nil }
        }
    }

    /// Returns whether the event is on disk.
    private func record(_ change: PermissionMemory.Change) -> Bool {
        guard let id = EventID(change.id) else { return true }
        let members = [
            JSONValue.Field("authorization", .text(change.authorization)),
            JSONValue.Field("previous", .text(change.previous)),
        ]
        let draft = Draft(
            id: id, type: .permissionChanged, at: Moment(milliseconds: change.at), notification: nil, members: members)
        return recorder.record(draft) == .kept
    }
}

extension Bellwether.Authorization {
    /// Takes the raw value of the system's status; nil for one that is not known.
    init?(status: Int) {
        switch status {
        case 0: self = .notDetermined
        case 1: self = .denied
        case 2: self = .authorized
        case 3: self = .provisional
        case 4: self = .ephemeral
        default: return nil
        }
    }
}

extension Bellwether.Previews {
    /// Takes the raw value of the system's setting; nil for one that is not known.
    init?(setting: Int) {
        switch setting {
        case 0: self = .always
        case 1: self = .whenAuthenticated
        case 2: self = .never
        default: return nil
        }
    }
}

#if !canImport(UserNotifications) || os(tvOS)
extension SystemCenter {
    /// This system has no notification centre.
    static let system: SystemCenter? = nil
}
#endif
