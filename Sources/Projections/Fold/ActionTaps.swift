internal import Telemetry
internal import Values

/// What one delivery says of one of its buttons.
struct ActionTaps: Hashable {
    var taps: Int64 = 0
    var foreground: Int64 = 0
    /// Microseconds from the earliest receipt to the first tap not before it; nil without such.
    var afterReceipt: Int64?

    /// By action, of all taps of a delivery; of those, the first 1,000 can be timed.
    static func byAction(of state: DeliveryState) -> [Int32: ActionTaps] {
        var actions: [Int32: ActionTaps] = [:]
        let receipt = state.observations.first { $0.type == .notificationReceived }?.moment.occurredAt
        for tap in state.observations where tap.type == .actionTapped && tap.action != 0 {
            var action = actions[tap.action] ?? ActionTaps()
            action.taps += 1
            if tap.isForegroundTap { action.foreground += 1 }
            if action.afterReceipt == nil, let receipt, tap.moment.occurredAt >= receipt {
                action.afterReceipt = tap.moment.occurredAt - receipt
            }
            actions[tap.action] = action
        }
        for (action, surplus) in state.surplusTaps {
            actions[action, default: ActionTaps()].taps += surplus.taps
            actions[action, default: ActionTaps()].foreground += surplus.foreground
        }
        return actions
    }

    /// Eight buckets to each doubling: the middle of one is off by a sixteenth at most, and those below 16 µs are exact.
    static func bucket(ofMicroseconds time: Int64) -> Int16 {
        guard time >= 8 else { return Int16(time) }
        let exponent = 63 - time.leadingZeroBitCount
        return Int16((exponent - 2) * 8 + Int((time >> Int64(exponent - 3)) & 7))
    }
}
