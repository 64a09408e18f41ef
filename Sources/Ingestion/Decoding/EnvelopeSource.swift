import JSON
import Telemetry
import Values

/// The envelope's `source`, which speaks for every event as far as the event has no `source` of its own.
struct EnvelopeSource {
    private let reader: ObjectReader<Member>
    /// Why it cannot be held, when it cannot: then no event can be taken.
    private let refusal: Rejection?
    /// What all events without an own `source` share; nil when there is no install id.
    private let shared: Result<Source, Rejection>?
    /// What goes to the `extra` of the events.
    let leftovers: Leftovers

    /// `refusal` says why the object cannot be held, when it cannot.
    init(_ object: JSONValue?, refusal: Rejection?, _ reader: ObjectReader<Member>) {
        self.reader = reader
        reader.begin(object, .envelopeSource)
        self.refusal = refusal
        shared = EnvelopeSource.shared(reader)
        // A value of another type is told to each event.
        MemberTables.sourceCodes.forEach(reader.keepUnknownWord)
        // They cost far more than all the rest when there are too many of them.
        leftovers = Leftovers(refusal == nil ? reader.leftovers : [])
    }

    /// The install that the envelope itself names, where it can be read, whatever is wrong with its other members.
    var installID: UUID? { reader[.installID]?.uuid }

    /// Being too large is said before anything else is: so is the order of the reasons.
    func checkSize() throws(Rejection) {
        if let refusal, refusal.reason == .tooLarge { throw refusal }
    }

    /// Whether an event has an install id, with a `source` of its own or without.
    func hasInstallID(with own: ObjectReader<Member>) -> Bool {
        own.has(.installID) || reader.has(.installID)
    }

    /// The source of an event that has an install id. Its own members override the envelope's one by one.
    func source(with own: ObjectReader<Member>) throws(Rejection) -> Source {
        if let refusal { throw refusal }
        if !own.isThere, let shared { return try shared.get() }
        return try merged(own, over: reader)
    }

    private static func shared(_ reader: ObjectReader<Member>) -> Result<Source, Rejection>? {
        guard reader.has(.installID) else { return nil }
        return Result { () throws(Rejection) in try merged(reader, over: reader) }
    }
}

private func merged(
    _ own: ObjectReader<Member>, over envelope: ObjectReader<Member>
) throws(Rejection) -> Source {
    func reader(of member: Member) -> ObjectReader<Member> { own.has(member) ? own : envelope }
    func text(_ member: Member) throws(Rejection) -> String? { try reader(of: member).string(member) }
    guard let installID = reader(of: .installID)[.installID]?.uuid else {
        throw reader(of: .installID).invalid(.installID, "must be a UUID")
    }
    return Source(
        installID: installID, platform: try text(.platform), osVersion: try text(.osVersion),
        appVersion: try text(.appVersion), sdk: try text(.sdk), deviceModel: try text(.deviceModel),
        locale: try text(.locale), timeZone: try text(.timeZone), fid: try text(.fid),
        authorization: try reader(of: .authorization).word(.authorization),
        showPreviews: try reader(of: .showPreviews).word(.showPreviews))
}
