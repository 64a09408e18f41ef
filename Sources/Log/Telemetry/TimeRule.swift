package import Values

/// Computes one plausible time from the device's clock, its envelope and our own clock.
package enum TimeRule {
    /// How far a device's clock may be off before it is corrected, and how far in our future an event may be.
    package static let tolerance: Int64 = 5 * 60 * 1_000_000

    /// When the event happened, and how we know; nil if the corrected time lies outside the years 2000 to 9999.
    ///
    /// If sending and receiving differ by more than five minutes, the device's time is moved by that skew. A time that
    /// is then more than five minutes in our future is replaced by the time of receipt.
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
    /// Our clock, because the event was in the future.
    case clamped

    package var wire: String {
        switch self {
        case .device: "device"
        case .corrected: "corrected"
        case .clamped: "clamped"
        }
    }
}
