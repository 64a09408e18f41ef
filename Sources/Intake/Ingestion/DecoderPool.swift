internal import Envelopes
internal import ServiceRuntime

/// Decoders that are not in use, kept so that the next request can use their memory: a new one is expensive.
final class DecoderPool: Sendable {
    // SAFETY: a decoder is in the list or in the hands of one thread, never both.
    private struct Box: @unchecked Sendable {
        let decoder: EnvelopeDecoder
    }

    private let idle = Lock<[Box]>([])

    func with<Result>(_ body: (EnvelopeDecoder) throws -> Result) rethrows -> Result {
        let box = idle.withLock { idle in idle.popLast() } ?? Box(decoder: EnvelopeDecoder())
        defer { idle.withLock { idle in idle.append(box) } }
        return try body(box.decoder)
    }
}
