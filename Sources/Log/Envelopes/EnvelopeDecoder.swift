import JSON
internal import Telemetry
package import Values

/// Turns the body of a request into events, each valid or rejected separately.
///
/// It reuses its parser's buffers, so a decoder serves one thread at a time.
package final class EnvelopeDecoder {
    private let parser = JSONParser(maximumBytes: Bounds.unpackedBody + CloudEventsReading.mostAdded)
    private let readers = EventReaders()

    package init() {}

    /// Reads an envelope that arrived at `receivedAt`. Throws only if nothing of it can be read.
    package func decode(
        body: [UInt8], receivedAt: Timestamp, upTo most: Int = Bounds.unpackedBody
    ) throws(EnvelopeError) -> DecodedEnvelope {
        guard body.count <= most else { throw .tooLarge(body.count) }
        defer { parser.release() }
        let whole = try parser.withDocument(body.span) { root throws(EnvelopeError) in
            try EnvelopeReading(body: body, receivedAt: receivedAt, misfits: [], readers: readers).decode(root)
        }
        if case .success(let envelope) = whole { return envelope }
        return try decodeMended(body: body, receivedAt: receivedAt)
    }

    /// Reads a batch of CloudEvents, JSON in the structured batch mode, as the envelope that it stands for.
    package func decode(cloudEvents body: [UInt8], receivedAt: Timestamp) throws(EnvelopeError) -> DecodedEnvelope {
        guard body.count <= Bounds.unpackedBody else { throw .tooLarge(body.count) }
        return try decode(
            body: try envelope(ofCloudEvents: body), receivedAt: receivedAt,
            upTo: Bounds.unpackedBody + CloudEventsReading.mostAdded)
    }

    private func envelope(ofCloudEvents body: [UInt8]) throws(EnvelopeError) -> [UInt8] {
        defer { parser.release() }
        let envelope = try parser.withDocument(body.span) { root throws(EnvelopeError) in
            try CloudEventsReading.envelope(of: root, body, misfits: [])
        }
        if case .success(let envelope) = envelope { return envelope }
        let (mended, misfits) = try mend(body)
        let second = try parser.withDocument(mended.span) { root throws(EnvelopeError) in
            try CloudEventsReading.envelope(of: root, body, misfits: misfits)
        }
        return try read(second)
    }

    /// The slow way, if simdjson refuses the body: finds what it objects to, replaces that by something harmless, and
    /// rejects only the events where this was done.
    private func decodeMended(body: [UInt8], receivedAt: Timestamp) throws(EnvelopeError) -> DecodedEnvelope {
        let (mended, misfits) = try mend(body)
        let result = try parser.withDocument(mended.span) { root throws(EnvelopeError) in
            try EnvelopeReading(body: body, receivedAt: receivedAt, misfits: misfits, readers: readers).decode(root)
        }
        return try read(result)
    }

    private func mend(_ body: [UInt8]) throws(EnvelopeError) -> (mended: [UInt8], misfits: [JSONMisfit]) {
        var mended = body
        do throws(JSONFault) {
            let misfits = try JSONScanner.mend(&mended, limit: Bounds.nesting + EnvelopeReading.levelsAboveEvent)
            return (mended, misfits)
        } catch {
            throw .notJSON(error.description)
        }
    }

    private func read<Value>(_ result: Result<Value, JSONRefusal>) throws(EnvelopeError) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let refusal): throw .notJSON("it could not be read (\(refusal))")
        }
    }
}
