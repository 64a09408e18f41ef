import JSON
import Telemetry
import Values

/// One parsed body, on its way to a decoded envelope.
struct EnvelopeReading {
    /// The envelope and its `events` contain each event.
    static let levelsAboveEvent = 2

    let body: [UInt8]
    let receivedAt: Timestamp
    /// What was replaced in the body before it could be parsed, by place.
    let misfits: [JSONMisfit]
    let readers: EventReaders

    func decode(_ root: JSONValue) throws(EnvelopeError) -> DecodedEnvelope {
        guard root.isObject else { throw .notAnObject }
        let members = EnvelopeMembers(root)
        guard let events = members.events?.value, let eventsOrdinal = members.events?.ordinal, events.isArray else {
            throw .noEvents
        }
        guard events.count <= Bounds.events else { throw .tooManyEvents(events.count) }
        let source = members.source.flatMap { $0.value.isVoid ? nil : $0 }
        if let source, !source.value.isObject { throw .sourceNotObject }

        let raw = RawEnvelope(body: body, eventsOrdinal: eventsOrdinal, sourceOrdinal: source?.ordinal)
        let sentAt = members.sentAt?.value.timestamp
        let mayHoldNUL = JSONText.mayHoldNUL(in: body.span)
        var values = EnvelopeValues()
        let envelopeSource = EnvelopeSource(
            source?.value, refusal: refusal(of: source, raw, mayHoldNUL), readers, &values)
        var decoder = EventDecoder(
            readers, sentAt: sentAt, receivedAt: receivedAt, source: envelopeSource, values: values,
            mayHoldNUL: mayHoldNUL, raw: raw, count: events.count)
        let findings = findings(raw)
        for (index, event) in events.elements.enumerated() {
            decoder.decode(event, findings.isEmpty ? EventDecoder.Finding() : findings[index])
        }
        let damagedDrops = damagedDrops(members.dropped, raw)
        let (drops, problems) = DropDecoder.decode(members.dropped?.value, isDamaged: damagedDrops.contains)
        return DecodedEnvelope(
            receivedAt: receivedAt, sentAt: sentAt, installID: envelopeSource.installID, events: decoder.events,
            rejected: decoder.rejected, sources: decoder.values.sources, texts: decoder.values.texts, drops: drops,
            invalidDrops: problems, raw: raw)
    }

    /// What the body shows about each event before it is read; empty if there is nothing for any of them.
    private func findings(_ raw: RawEnvelope) -> [EventDecoder.Finding] {
        guard body.count > Bounds.event || !misfits.isEmpty else { return [] }
        let ranges = raw.eventRanges
        return zip(ranges, areMended(ranges)).map { range, isMended in
            EventDecoder.Finding(isTooLarge: range.count > Bounds.event, isMended: isMended)
        }
    }

    /// Why the envelope's `source` cannot be stored.
    private func refusal(of source: EnvelopeMembers.Found?, _ raw: RawEnvelope, _ mayHoldNUL: Bool) -> Rejection? {
        guard let source else { return nil }
        var isMended = false
        if body.count > Bounds.source || !misfits.isEmpty, let range = raw.range(ofMember: source.ordinal) {
            guard range.count <= Bounds.source else {
                return Rejection(.tooLarge, "source: may have at most \(Bounds.source) bytes")
            }
            isMended = areMended([range])[0]
        }
        guard source.value.mayBeUnholdable(isMended: isMended, levels: Bounds.nesting - 1, mayHoldNUL: mayHoldNUL),
            let (path, problem) = raw.unholdableOfSource
        else { return nil }
        return Rejection(.invalidField, "source\(path): \(problem.words)")
    }

    private func damagedDrops(_ dropped: EnvelopeMembers.Found?, _ raw: RawEnvelope) -> Set<Int> {
        guard !misfits.isEmpty, let dropped, dropped.value.isArray else { return [] }
        let mended = areMended(raw.elementRanges(ofMember: dropped.ordinal))
        return Set(mended.indices.filter { mended[$0] })
    }

    /// Whether there was a misfit in each of the ranges, which are in order.
    private func areMended(_ ranges: [Range<Int>]) -> [Bool] {
        var next = 0
        return ranges.map { range in
            while next < misfits.count, misfits[next].offset < range.lowerBound { next += 1 }
            return next < misfits.count && misfits[next].offset < range.upperBound
        }
    }
}

/// The known members of the envelope; of repeated ones the last.
struct EnvelopeMembers {
    var events: Found?
    var source: Found?
    var sentAt: Found?
    var dropped: Found?

    /// A value and the number of its member in the object.
    struct Found {
        let value: JSONValue
        let ordinal: Int
    }

    init(_ root: JSONValue) {
        for (ordinal, (key, value)) in root.members.enumerated() {
            if key.spells("events") { events = Found(value: value, ordinal: ordinal) }
            if key.spells("source") { source = Found(value: value, ordinal: ordinal) }
            if key.spells("sent_at") { sentAt = Found(value: value, ordinal: ordinal) }
            if key.spells("dropped") { dropped = Found(value: value, ordinal: ordinal) }
        }
    }
}
