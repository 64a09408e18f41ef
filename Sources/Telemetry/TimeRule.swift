package import Values

/// Makes one believable time of what the device, its envelope and our own clock say.
package enum TimeRule {
    /// How far a device's clock may be off before it is corrected, and how far ahead of us an event may lie.
    package static let tolerance: Int64 = 5 * 60 * 1_000_000

    /// When the event happened, and how we know; nil when the corrected time lies outside the years 2000 to 9999.
    ///
    /// A skew of more than five minutes between sending and receiving moves the device's time by that skew; whatever
    /// then lies more than five minutes ahead of us is given the receive time.
    package static func occurrence(
        at: Timestamp, sentAt: Timestamp?, receivedAt: Timestamp
    ) -> (occurredAt: Timestamp, timeSource: TimeSource)? {
        var occurredAt = at
        var timeSource = TimeSource.device
        if let sentAt {
            let (skew, overflows) = receivedAt.microseconds.subtractingReportingOverflow(sentAt.microseconds)
            guard !overflows else { return nil }
            if skew.magnitude > tolerance.magnitude {
                let (corrected, overflows) = at.microseconds.addingReportingOverflow(skew)
                guard !overflows else { return nil }
                occurredAt = Timestamp(microseconds: corrected)
                timeSource = .corrected
            }
        }
        guard Timestamp.plausible.contains(occurredAt) else { return nil }
        if occurredAt - receivedAt > tolerance {
            return (receivedAt, .clamped)
        }
        return (occurredAt, timeSource)
    }
}

/// Where an event's `occurred_at` comes from.
package enum TimeSource: Int16, WireEnum {
    /// The device's clock as it is.
    case device = 1
    /// The device's clock, moved by its skew.
    case corrected
    /// Our clock, because the event lay in the future.
    case clamped

    package var wire: String {
        switch self {
        case .device: "device"
        case .corrected: "corrected"
        case .clamped: "clamped"
        }
    }
}
