package import Telemetry
internal import Values

/// An event as the log holds it: what happened, and the app whose key brought it.
package struct StoredEvent: Sendable {
    /// The app's slug.
    package var app: String
    package var event: Event

    package init(app: String, event: Event) {
        self.app = app
        self.event = event
    }

    /// What makes two copies one event: (app, install, id, at).
    package var identity: Identity {
        Identity(app: Label(app), install: event.source.installID, id: event.id, deviceAt: event.deviceAt)
    }

    /// Of events with one identity the first given stays, as in the log, where the first stored stays. A retry repeats
    /// its event unchanged, so which one it is makes no difference.
    static func distinct(_ events: [StoredEvent]) -> [StoredEvent] {
        var seen: Set<Identity> = []
        return events.filter { seen.insert($0.identity).inserted }
    }

    package struct Identity: Hashable, Sendable {
        let app: Label
        let install: UUID
        let id: UUID
        let deviceAt: Timestamp
    }
}
