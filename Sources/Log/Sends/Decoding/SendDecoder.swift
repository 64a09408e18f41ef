internal import JSON
internal import Telemetry

/// Reads one send, or finds the first reason to reject it.
struct SendDecoder {
    /// Reads JSON texts within a payload.
    let texts: JSONTexts

    func decode(_ object: JSONValue, path: String) throws(Rejection) -> Send {
        let reader = SendReader(object, path: path)
        // The size is checked first, since what follows searches the payload.
        let payload = try reader.payload()
        let kept = try payload.map { value throws(Rejection) in try keep(value, reader) }
        var send = Send(id: try reader.id())
        send.sentAt = try reader.sentAt()
        let push = payload.map { PushPayload($0, texts: texts) }
        send.campaign = try reader.identifier(.campaign) ?? push?.campaign
        send.variant = try reader.identifier(.variant)
        send.category = try reader.identifier(.category) ?? push?.category
        send.thread = try reader.identifier(.thread) ?? push?.thread
        send.topic = try reader.identifier(.topic) ?? push?.topic
        send.analyticsLabel = try reader.identifier(.analyticsLabel) ?? push?.analyticsLabel
        send.recipients = try reader.recipients()
        send.messageIDs = try reader.messageIDs()
        send.payload = kept
        send.story = push?.story
        return send
    }

    private func keep(_ payload: JSONValue, _ reader: SendReader) throws(Rejection) -> [UInt8] {
        var whole = JSONWriter()
        whole.write(payload, omitting: { _ in false })
        guard whole.bytes.count <= SendBounds.payload else {
            throw reader.refusal(
                .tooLarge, .payload, "may have at most \(SendBounds.payload) bytes, has \(whole.bytes.count)")
        }
        var writer = JSONWriter()
        writer.write(payload, omitting: PayloadSecrets.names)
        return writer.bytes
    }
}

/// The place of a send in its body, and the values in it that JSON can express but nobody can store.
struct SendPlace {
    let body: [UInt8]
    let range: Range<Int>
    /// The misfits of the whole body.
    let misfits: [JSONMisfit]

    /// The path of the member within the send and what is wrong with it; nil if nothing is.
    func problem(in value: JSONValue) -> String? {
        let body = body
        if let misfit = misfits.first(where: { range.contains($0.offset) }) {
            return JSONSlicer.path(to: misfit.offset, ofValueAt: range.lowerBound, in: body.span) + ": "
                + words(misfit.kind)
        }
        guard value.holdsNUL else { return nil }
        let offset = JSONSlicer.offset(ofNULIn: range, of: body.span)
        let path = offset.map { JSONSlicer.path(to: $0, ofValueAt: range.lowerBound, in: body.span) } ?? ""
        return path + ": it contains a string with the character U+0000"
    }

    /// Whether a whole member was replaced, so that its value is not what the sender wrote.
    func hasMended(_ member: SendMember, of value: JSONValue) -> Bool {
        let body = body
        guard misfits.contains(where: { range.contains($0.offset) }),
            let ordinal = value.members.enumerated().reversed().first(where: { $1.key.spells(member.name) })?.offset,
            let place = JSONSlicer.value(ofMember: ordinal, ofObjectAt: range.lowerBound, in: body.span)
        else { return false }
        return misfits.contains { $0.offset == place.lowerBound }
    }

    private func words(_ kind: JSONMisfit.Kind) -> String {
        switch kind {
        case .number: "it contains a number beyond 64 bits or a double"
        case .surrogate: "it contains a string with a lone surrogate"
        case .nesting: "it is nested more than \(Bounds.nesting) levels deep"
        }
    }
}

/// Reads JSON texts within JSON: some services send custom data like this.
final class JSONTexts {
    private let parser = JSONParser(maximumBytes: Bounds.unpackedBody)

    /// Passes `body` the object that a value is, or that its text contains; nil if it is neither.
    func open<Result>(_ value: JSONValue, _ body: (JSONValue) -> Result?) -> Result? {
        if value.isObject { return body(value) }
        guard let text = value.text else { return nil }
        let bytes = text.bytes
        let result = parser.withDocument(bytes.span) { root in root.isObject ? body(root) : nil }
        guard case .success(let found) = result else { return nil }
        return found
    }
}
