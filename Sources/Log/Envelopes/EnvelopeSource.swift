import JSON
import Telemetry
import Values

/// The envelope's `source`. It applies to every event, except for what the event's own `source` says.
struct EnvelopeSource {
    private let reader: ObjectReader<Member>
    private let settings: ObjectReader<Member>
    /// Why it cannot be stored, if so; then no event can be accepted.
    private let refusal: Rejection?
    /// The source of all events without their own; nil if there is no install id.
    private let shared: Result<Int32, Rejection>?
    /// What goes to the `extra` of the events.
    let leftovers: Leftovers

    /// `refusal` says why the object cannot be stored, if so.
    init(
        _ object: JSONValue?, refusal: Rejection?, _ readers: EventReaders, _ values: inout EnvelopeValues
    ) {
        let (reader, plans) = (readers.envelopeSource, readers.plans)
        (self.reader, settings) = (reader, readers.settings)
        reader.begin(object, .envelopeSource)
        self.refusal = refusal
        if reader.has(.installID) {
            do throws(Rejection) {
                shared = .success(try values.addSource(reader, over: reader, settings, plans))
            } catch { shared = .failure(error) }
        } else {
            shared = nil
        }
        // A value of another type is reported for each event.
        MemberTables.sourceCodes.forEach { reader.keepUnknownWord($0, plans) }
        reader.keepUnknownSettings(settings, plans)
        // If there are too many of them, they cost far more than all the rest.
        leftovers = Leftovers(refusal == nil ? reader.leftovers : [])
    }

    /// The install that the envelope itself names, if it can be read, whatever is wrong with other members.
    var installID: UUID? { reader[.installID]?.uuid }

    /// `too_large` comes before all other reasons.
    func checkSize() throws(Rejection) {
        if let refusal, refusal.reason == .tooLarge { throw refusal }
    }

    /// Whether an event has an install id, from its own `source` or from the envelope's.
    func hasInstallID(with own: ObjectReader<Member>) -> Bool {
        own.has(.installID) || reader.has(.installID)
    }

    /// The source of an event that has an install id. Its own members override the envelope's one by one.
    func source(
        with own: ObjectReader<Member>, _ plans: MemberPlans, _ values: inout EnvelopeValues
    ) throws(Rejection) -> Int32 {
        if let refusal { throw refusal }
        if !own.isThere, let shared { return try shared.get() }
        return try values.addSource(own, over: reader, settings, plans)
    }
}
