internal import JSON
internal import Telemetry

/// Reads one send, or says for which first reason it cannot be taken.
struct SendDecoder {
    /// For texts of JSON within a payload.
    let texts: JSONTexts

    func decode(_ object: JSONValue, path: String) throws(Rejection) -> Send {
        let reader = SendReader(object, path: path)
        // The size goes first: what follows looks into it.
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
