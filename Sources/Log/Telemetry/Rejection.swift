/// Why one event is not stored, with the terms of the answer.
package struct Rejection: Error, Hashable, Sendable {
    package let reason: RejectionReason
    /// A sentence for people that names the member by its path. It has a limited length and is safe to show.
    package let detail: String

    package init(_ reason: RejectionReason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}

/// Every reason for rejecting an event, in the order of the checks: the first that applies is given.
package enum RejectionReason: String, CaseIterable, Hashable, Sendable {
    case notAnObject = "not_an_object"
    case tooLarge = "too_large"
    case missingField = "missing_field"
    case invalidID = "invalid_id"
    case unknownType = "unknown_type"
    case invalidTime = "invalid_time"
    case missingNotification = "missing_notification"
    case invalidField = "invalid_field"
    /// A key of this kind may not tell events of this type of this app.
    case notAllowed = "not_allowed"
    /// The install was erased, and the event is from before.
    case erased
    /// Retention has removed the month that the event belongs to.
    case tooOld = "too_old"
    /// PostgreSQL refused it although it passed all checks.
    case unstorable
}
