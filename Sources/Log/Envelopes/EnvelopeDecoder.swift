import JSON
internal import Telemetry
package import Values

/// Turns the body of a request into events, each valid or rejected separately.
///
/// It reuses its parser's buffers, so a decoder serves one thread at a time.
package final class EnvelopeDecoder {
    private let parser = JSONParser(maximumBytes: Bounds.unpackedBody)
    private let readers = EventReaders()

    package init() {}

    /// Reads an envelope that arrived at `receivedAt`. Throws only if nothing of it can be read.
    package func decode(body: [UInt8], receivedAt: Timestamp) throws(EnvelopeError) -> DecodedEnvelope {
        guard body.count <= Bounds.unpackedBody else { throw .tooLarge(body.count) }
        defer { parser.release() }
        let whole = try parser.withDocument(body.span) { root throws(EnvelopeError) in
            try EnvelopeReading(body: body, receivedAt: receivedAt, misfits: [], readers: readers).decode(root)
        }
        if case .success(let envelope) = whole { return envelope }
        return try decodeMended(body: body, receivedAt: receivedAt)
    }

    /// The slow way, if simdjson refuses the body: finds what it objects to, replaces that by something harmless, and
    /// rejects only the events where this was done.
    private func decodeMended(body: [UInt8], receivedAt: Timestamp) throws(EnvelopeError) -> DecodedEnvelope {
        var mended = body
        let misfits: [JSONMisfit]
        do throws(JSONFault) {
            misfits = try JSONScanner.mend(&mended, limit: Bounds.nesting + EnvelopeReading.levelsAboveEvent)
        } catch {
            throw .notJSON(error.description)
        }
        let result = try parser.withDocument(mended.span) { root throws(EnvelopeError) in
            try EnvelopeReading(body: body, receivedAt: receivedAt, misfits: misfits, readers: readers).decode(root)
        }
        switch result {
        case .success(let envelope): return envelope
        case .failure(let refusal): throw .notJSON("it could not be read (\(refusal))")
        }
    }
}
