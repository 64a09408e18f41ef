import JSON
import Telemetry

/// The readers that one thread uses for events, kept from envelope to envelope.
final class EventReaders {
    let event = ObjectReader<Member>(MemberTables.keys(of: .event))
    let notification = ObjectReader<Member>(MemberTables.keys(of: .notification))
    let media = ObjectReader<Member>(MemberTables.keys(of: .media))
    /// An event's own `source`.
    let source = ObjectReader<Member>(MemberTables.keys(of: .source))
    let envelopeSource = ObjectReader<Member>(MemberTables.keys(of: .source))
    /// The `settings` of any `source`.
    let settings = ObjectReader<Member>(MemberTables.keys(of: .settings))
    let tables = MemberTables()
    let plans = MemberPlans()
}
