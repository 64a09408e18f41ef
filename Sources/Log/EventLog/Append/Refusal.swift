internal import Accounts
internal import Envelopes
internal import Telemetry
internal import Values

/// A rejected event with everything its row needs from the envelope.
struct Refusal {
    /// Identifies it: the same raw event of an app is kept once.
    struct Identity: Hashable {
        let app: Int32
        let hash: SHA256
    }

    let app: Int32
    let key: Int32
    let install: UUID?
    let receivedAt: Timestamp
    let sentAt: Timestamp?
    let source: String?
    let event: RejectedEvent
    let hash: SHA256

    init(_ event: RejectedEvent, install: UUID?, source: String?, of submission: Submission) {
        app = submission.app
        key = submission.key
        self.install = install
        receivedAt = submission.envelope.receivedAt
        sentAt = submission.envelope.sentAt
        self.source = source
        self.event = event
        hash = SHA256(of: event.raw.utf8)
    }

    var identity: Identity { Identity(app: app, hash: hash) }

    /// How many bytes it takes of the allowance.
    var bytes: Int { event.raw.utf8.count + event.rejection.detail.utf8.count + (source?.utf8.count ?? 0) }
}

/// A client's report of dropped events, with everything its row needs from the envelope.
struct DropReport {
    let app: Int32
    let key: Int32
    var install: UUID?
    let receivedAt: Timestamp
    let drop: ClientDrop
}
