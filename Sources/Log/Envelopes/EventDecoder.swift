import JSON
import Telemetry
import Values

/// Reads the events of one envelope. Each is valid or rejected separately, with the first reason that applies.
struct EventDecoder {
    private let sentAt: Timestamp?
    private let receivedAt: Timestamp
    private let envelopeSource: EnvelopeSource
    /// Whether U+0000 may occur somewhere in the body, so that each event must be searched for it.
    private let mayHoldNUL: Bool
    private let raw: RawEnvelope
    private let readers: EventReaders
    /// The previous event: texts that it shares are stored once.
    private var last = EventRecord()
    /// The events read so far.
    private(set) var events: [EventRecord] = []
    private(set) var rejected: [RejectedEvent] = []
    private(set) var values: EnvelopeValues

    init(
        _ readers: EventReaders, sentAt: Timestamp?, receivedAt: Timestamp, source: EnvelopeSource,
        values: EnvelopeValues, mayHoldNUL: Bool, raw: RawEnvelope, count: Int
    ) {
        self.readers = readers
        self.sentAt = sentAt
        self.receivedAt = receivedAt
        self.envelopeSource = source
        self.values = values
        self.mayHoldNUL = mayHoldNUL
        self.raw = raw
        events.reserveCapacity(count)
    }

    private var event: ObjectReader<Member> { readers.event }
    private var notification: ObjectReader<Member> { readers.notification }
    private var media: ObjectReader<Member> { readers.media }
    private var source: ObjectReader<Member> { readers.source }

    /// What is known about an event before it is read.
    struct Finding {
        var isTooLarge = false
        /// Whether something in the event was replaced because it could not be stored.
        var isMended = false
    }

    /// Reads the next event of the envelope.
    mutating func decode(_ value: JSONValue, _ finding: Finding) {
        let index = events.count
        guard value.isObject else {
            return reject(
                index, id: nil, install: envelopeSource.installID,
                Rejection(.notAnObject, "events[\(index)]: must be an object, not \(value.kind.words)"))
        }
        event.begin(value, .event(index))
        let id = event[.eventID]?.uuid
        do throws(Rejection) {
            last = try decode(value, id: id, at: index, finding)
            events.append(last)
        } catch {
            // It may have been rejected before its own source was read.
            beginSource(at: index)
            reject(index, id: id, install: source[.installID]?.uuid ?? envelopeSource.installID, error)
        }
    }

    private mutating func reject(_ index: Int, id: UUID?, install: UUID?, _ rejection: Rejection) {
        events.append(EventRecord())
        rejected.append(
            RejectedEvent(
                index: index, id: id, install: install, rejection: rejection,
                raw: String(decoding: raw.event(index), as: UTF8.self)))
    }

    private mutating func decode(
        _ value: JSONValue, id: UUID?, at index: Int, _ finding: Finding
    ) throws(Rejection) -> EventRecord {
        if finding.isTooLarge { throw refusal(.tooLarge, "may have at most \(Bounds.event) bytes") }
        try envelopeSource.checkSize()
        try require(readers.tables.identity)
        guard let id else { throw refusal(.invalidID, .eventID, "must be a UUID") }
        var record = EventRecord()
        record.id = id
        record.receivedAt = receivedAt
        let type = try readType()
        record.type = type
        try readTimes(into: &record)
        try beginNotification(at: index, of: type)
        beginSource(at: index)
        guard envelopeSource.hasInstallID(with: source) else {
            throw refusal(.missingField, .source, "install_id is required here or in the envelope's source")
        }
        try require(readers.tables.required[Int(type.rawValue)])

        if value.mayBeUnholdable(isMended: finding.isMended, levels: Bounds.nesting, mayHoldNUL: mayHoldNUL),
            let (place, problem) = raw.unholdable(inEvent: index)
        {
            throw refusal(.invalidField, place: place, problem.words)
        }
        if let value = event[.source], !source.isThere {
            throw event.invalid(.source, "must be an object, not \(value.kind.words)")
        }
        // Members of other types are unknown to this one. Reading marks more, so `extra` comes last.
        event.kept = ~readers.tables.known[Int(type.rawValue)]
        try beginMedia(at: index)
        values.beginEvent()
        if case .double? = event[.goalValue]?.number {
            values.note(literal: raw.literal(of: .goalValue, inEvent: index, value))
        }
        try values.read(event, readers.tables.own[Int(type.rawValue)], readers.plans, like: last, into: &record)
        record.source = try envelopeSource.source(with: source, readers.plans, &values)
        try values.read(notification, .max, readers.plans, like: last, into: &record)
        try values.read(media, .max, readers.plans, like: last, into: &record)
        values.finish(&record)
        if let extra = extra() { record.extra = values.add(extra) }
        return record
    }

    private func require(_ members: JSONKeys.Set) throws(Rejection) {
        let missing = members & ~event.present
        guard missing != 0, let first = Member(rawValue: UInt8(missing.trailingZeroBitCount)) else { return }
        throw refusal(.missingField, first, "is required, and must be neither null nor empty")
    }

    private static let types = EventType.allCases.map(\.name).joined(separator: ", ")

    private func readType() throws(Rejection) -> EventType {
        let value = event[.type]
        if let text = value?.text,
            let type = EventType(
                rawValue: Int16(readers.plans.code(of: text, readers.plans.plans[Member.type.ordinal])))
        {
            return type
        }
        let given = value?.text?.excerpt ?? value?.kind.words ?? ""
        throw refusal(.unknownType, .type, "must be one of \(Self.types), not \(given)")
    }

    private func readTimes(into record: inout EventRecord) throws(Rejection) {
        guard let deviceAt = event[.deviceAt]?.timestamp else {
            let hint = event[.deviceAt]?.number.flatMap { Timestamp.hint(forEpoch: $0.double) }
            throw refusal(
                .invalidTime, .deviceAt,
                "must be RFC 3339 with offset, or epoch milliseconds as a number, in the years 2000 to 9999"
                    + (hint.map { "; \($0)" } ?? ""))
        }
        guard let time = TimeRule.occurrence(at: deviceAt, sentAt: sentAt, receivedAt: receivedAt) else {
            throw refusal(
                .invalidTime, .deviceAt,
                "after correction by the envelope's sent_at, it is outside the years 2000 to 9999")
        }
        record.deviceAt = deviceAt
        record.occurredAt = time.occurredAt
        record.timeSource = time.timeSource
    }

    private func beginNotification(at index: Int, of type: EventType) throws(Rejection) {
        guard readers.tables.known[Int(type.rawValue)] & Member.notification.bit != 0 else {
            return notification.begin(nil, .inEvent(index, "notification"))
        }
        if type.isAboutInstall, event[.notification] == nil {
            return notification.begin(nil, .inEvent(index, "notification"))
        }
        guard let object = event[.notification], object.isObject else {
            throw refusal(.missingNotification, .notification, "is required, and must be an object")
        }
        notification.begin(object, .inEvent(index, "notification"))
        guard notification.present & readers.tables.notificationIDs != 0 else {
            throw refusal(.missingNotification, .notification, "must have fcm_message_id, delivery_id or id")
        }
    }

    private func beginSource(at index: Int) {
        let object = event[.source]
        source.begin(object?.isObject == true ? object : nil, .inEvent(index, "source"))
    }

    /// Only types that have a `media` read it.
    private func beginMedia(at index: Int) throws(Rejection) {
        let object = event.kept & Member.media.bit == 0 ? event[.media] : nil
        if let object, !object.isObject { throw event.invalid(.media, "must be an object, not \(object.kind.words)") }
        media.begin(object, .inEvent(index, "media"))
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
