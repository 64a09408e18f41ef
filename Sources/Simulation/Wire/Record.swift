internal import Telemetry
internal import Values

/// One event as a phone has written it down.
struct Record: Sendable {
    /// When, by the true time.
    let at: Timestamp
    let text: String
    /// What is wrong with it, when something is.
    let fault: RejectionReason?
    /// Whether the server has been told before.
    var isRepeated = false
}
