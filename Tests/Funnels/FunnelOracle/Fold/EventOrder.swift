internal import Telemetry
internal import Values

/// Event order is (`occurred_at`, `seq` or 0, id).
///
/// Ids are compared as bits, without sign. The contract's order leaves one tie: events are told apart by their device's
/// time too, so one id can stand twice in a delivery, and two corrected clocks, or a clamped one, can give both the
/// same `occurred_at`. Decided: the earlier `device_at` goes first.
enum EventOrder {
    static func precedes(_ left: Event, _ right: Event) -> Bool {
        if left.occurredAt != right.occurredAt { return left.occurredAt < right.occurredAt }
        if left.seq ?? 0 != right.seq ?? 0 { return left.seq ?? 0 < right.seq ?? 0 }
        if left.id != right.id { return left.id < right.id }
        return left.deviceAt < right.deviceAt
    }
}
