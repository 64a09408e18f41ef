import JSON
import Telemetry
import Values

/// Reads the events of one envelope. Each is valid or refused by itself, for the first reason that applies.
struct EventDecoder {
    let sentAt: Timestamp?
    let receivedAt: Timestamp
    let envelopeSource: EnvelopeSource
    /// Whether U+0000 may stand somewhere in the body, so that each event must be looked through for it.
    let mayHoldNUL: Bool
    let raw: RawEnvelope
    private let event: ObjectReader<Member>
    private let notification: ObjectReader<Member>
    private let media: ObjectReader<Member>
    private let source: ObjectReader<Member>

    init(
        _ readers: EventReaders, sentAt: Timestamp?, receivedAt: Timestamp, source: EnvelopeSource, mayHoldNUL: Bool,
        raw: RawEnvelope
    ) {
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.envelopeSource = source
        self.mayHoldNUL = mayHoldNUL
        self.raw = raw
        event = readers.event
        notification = readers.notification
        media = readers.media
        self.source = readers.source
    }

    /// What is known of an event before it is read.
    struct Finding {
        var isTooLarge = false
        /// Whether something was mended in the event, because it could not be held.
        var isMended = false
    }

    /// Reads the event that stands at `index` of the envelope.
    func decode(_ value: JSONValue, at index: Int, _ finding: Finding) -> DecodedEnvelope.Item {
        guard value.isObject else {
            return .rejected(
                id: nil, install: envelopeSource.installID,
                Rejection(.notAnObject, "events[\(index)]: must be an object, is \(value.kind.words)"))
        }
        event.begin(value, .event(index))
        media.begin(nil, .inEvent(index, "media"))
        let id = event[.eventID]?.uuid
        do throws(Rejection) {
            return .event(try decode(value, id: id, at: index, finding))
        } catch {
            // It may have been refused before its own source was reached.
            beginSource(at: index)
            return .rejected(id: id, install: source[.installID]?.uuid ?? envelopeSource.installID, error)
        }
    }

    private func decode(
        _ value: JSONValue, id: UUID?, at index: Int, _ finding: Finding
    ) throws(Rejection) -> Event {
        if finding.isTooLarge { throw refusal(.tooLarge, "may have \(Bounds.event) bytes at most") }
        try envelopeSource.checkSize()
        try require(MemberTables.identity)
        guard let id else { throw refusal(.invalidID, .eventID, "must be a UUID") }
        let type = try readType()
        let (deviceAt, time) = try readTimes()
        try beginNotification(at: index, of: type)
        beginSource(at: index)
        guard envelopeSource.hasInstallID(with: source) else {
            throw refusal(.missingField, .source, "install_id must be there, or in the envelope's source")
        }
        try require(MemberTables.required[Int(type.rawValue)])

        if value.mayBeUnholdable(isMended: finding.isMended, levels: Bounds.nesting, mayHoldNUL: mayHoldNUL),
            let (place, problem) = raw.unholdable(inEvent: index)
        {
            throw refusal(.invalidField, place: place, problem.words)
        }
        if let value = event[.source], !source.isThere {
            throw event.invalid(.source, "must be an object, is \(value.kind.words)")
        }
        // What belongs to other types is to this one an unknown member. Reading marks more, so `extra` comes last.
        event.kept = ~MemberTables.known[Int(type.rawValue)]
        let form = EventForm(event: event, notification: notification, media: media)
        return Event(
            id: id, deviceAt: deviceAt, occurredAt: time.occurredAt, receivedAt: receivedAt,
            timeSource: time.timeSource, seq: try event.integer(.seq),
            source: try envelopeSource.source(with: source), notification: try form.readNotification(),
            interaction: try form.readInteraction(of: type, at: index), extra: extra())
    }

    private func require(_ members: JSONKeys.Set) throws(Rejection) {
        let missing = members & ~event.present
        guard missing != 0, let first = Member(rawValue: UInt8(missing.trailingZeroBitCount)) else { return }
        throw refusal(.missingField, first, "must be there, and be neither null nor empty")
    }

    private static let types = EventType.allCases.map(\.name).joined(separator: ", ")

    private func readType() throws(Rejection) -> EventType {
        let value = event[.type]
        if let text = value?.text, let type = EventType(wire: text.utf8.span) { return type }
        let given = value?.text?.excerpt ?? value?.kind.words ?? ""
        throw refusal(.unknownType, .type, "must be one of \(Self.types), is \(given)")
    }

    private func readTimes() throws(Rejection) -> (Timestamp, (occurredAt: Timestamp, timeSource: TimeSource)) {
        guard let deviceAt = event[.deviceAt]?.timestamp else {
            let hint = event[.deviceAt]?.number.flatMap { Timestamp.hint(forEpoch: $0.double) }
            throw refusal(
                .invalidTime, .deviceAt,
                "must be RFC 3339 with offset, or epoch milliseconds as a number, in the years 2000 to 9999"
                    + (hint.map { "; \($0)" } ?? ""))
        }
        guard let time = TimeRule.occurrence(at: deviceAt, sentAt: sentAt, receivedAt: receivedAt) else {
            throw refusal(
                .invalidTime, .deviceAt, "corrected by the envelope's sent_at, it lies outside the years 2000 to 9999")
        }
        return (deviceAt, time)
    }

    private func beginNotification(at index: Int, of type: EventType) throws(Rejection) {
        guard MemberTables.known[Int(type.rawValue)] & Member.notification.bit != 0 else {
            return notification.begin(nil, .inEvent(index, "notification"))
        }
        guard let object = event[.notification], object.isObject else {
            throw refusal(.missingNotification, .notification, "must be there and be an object")
        }
        notification.begin(object, .inEvent(index, "notification"))
        guard notification.present & MemberTables.notificationIDs != 0 else {
            throw refusal(.missingNotification, .notification, "must have fcm_message_id, delivery_id or id")
        }
    }

    private func beginSource(at index: Int) {
        let object = event[.source]
        source.begin(object?.isObject == true ? object : nil, .inEvent(index, "source"))
    }

    private func extra() -> [UInt8]? {
        var writer = ExtraWriter()
        writer.write(event)
        writer.write(notification, under: "notification")
        writer.write(media, under: "media")
        writer.write(source.isThere ? envelopeSource.leftovers.overridden(by: source) : envelopeSource.leftovers)
        return writer.finish()
    }

    private func refusal(_ reason: RejectionReason, place: String = "", _ problem: String) -> Rejection {
        Rejection(reason, "\(event.path.text)\(place): \(problem)")
    }

    private func refusal(_ reason: RejectionReason, _ member: Member, _ problem: String) -> Rejection {
        Rejection(reason, "\(event.path.text).\(member.name): \(problem)")
    }
}
