internal import CSimdJSON

/// Parses JSON strictly by RFC 8259, with simdjson. It keeps its buffers for the next document.
///
/// Not `Sendable`: only one thread at a time may use a parser.
@safe package final class JSONParser {
    // SAFETY: made in `init`, destroyed in `deinit`, never handed out.
    private let handle: OpaquePointer
    private let keptBytes: Int

    /// `maximumBytes` limits a document. The buffers are some fifteen times as large as the document, so `release`
    /// frees them after a document of more than `keptBytes`.
    package init(maximumBytes: Int, keptBytes: Int = 1 << 20) {
        guard let handle = unsafe bw_json_parser_create(maximumBytes) else {
            preconditionFailure("out of memory for a JSON parser")
        }
        unsafe self.handle = handle
        self.keptBytes = keptBytes
    }

    deinit { unsafe bw_json_parser_destroy(handle) }

    /// Runs `body` on the root of the document. Neither the root nor any value or text reached from it may leave
    /// `body`, and `body` may not parse with this parser.
    @inline(__always)
    package func withDocument<Result, Failure: Error>(
        _ bytes: Span<UInt8>, _ body: (JSONValue) throws(Failure) -> Result
    ) throws(Failure) -> Swift.Result<Result, JSONRefusal> {
        switch parse(bytes) {
        case .success(let root): .success(try body(root))
        case .failure(let refusal): .failure(refusal)
        }
    }

    /// Frees memory after a document that was larger than usual.
    package func release() {
        if unsafe bw_json_parser_capacity(handle) > keptBytes {
            unsafe bw_json_parser_release(handle)
        }
    }

    private func parse(_ bytes: Span<UInt8>) -> Swift.Result<JSONValue, JSONRefusal> {
        let status = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe bw_json_parser_parse(handle, bytes.baseAddress, bytes.count)
        }
        switch status {
        case BW_JSON_OK: break
        case BW_JSON_TOO_LARGE: return .failure(.tooLarge)
        case BW_JSON_NO_MEMORY: preconditionFailure("out of memory for a JSON document of \(bytes.count) bytes")
        default: return .failure(.refused)
        }
        guard let tape = unsafe bw_json_parser_tape(handle), let strings = unsafe bw_json_parser_strings(handle) else {
            preconditionFailure("simdjson gave a document without a tape")
        }
        // SAFETY: position 0 is the root's own word, the document's value starts at 1; both buffers live until the next
        // parse, which `withDocument` forbids.
        return .success(unsafe JSONValue(tape: tape, strings: strings, position: 1))
    }
}

/// Why a document was not parsed.
package enum JSONRefusal: Error, Hashable, Sendable {
    /// Not JSON, or well-formed JSON that the parser cannot hold: `JSONScanner` finds out which.
    case refused
    case tooLarge
}
