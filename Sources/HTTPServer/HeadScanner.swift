/// Finds the end of a request's head, byte by byte as they come, and refuses at the first byte what no head may hold.
///
/// A line ends with CR and LF and in no other way, and nothing is a control character but the tab. Readers before us may
/// take a lone LF for the end of a line, or a NUL for the end of a text, and see another request than we would; so
/// whatever two readers could take differently is refused before anybody asks what it says.
struct HeadScanner {
    enum Outcome: Equatable {
        /// More must come.
        case incomplete
        /// The head goes up to here, its last empty line included.
        case complete(end: Int)
        case malformed(String)
    }

    /// Up to where the bytes were looked at.
    private(set) var position = 0
    /// The request line: up to its CR, once it is there.
    private(set) var requestLineEnd: Int?
    private var lineLength = 0
    private var isAfterCR = false

    /// Looks at what came since. Empty lines before the request line belong to nothing, and are to be dropped by the
    /// caller, who then begins anew.
    mutating func scan(_ bytes: [UInt8]) -> Outcome {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            while position < bytes.count {
                // SAFETY: within bounds, by the line above.
                let byte = unsafe bytes[position]
                position += 1
                if byte == 0x0A {
                    guard isAfterCR else { return .malformed("a line ends with LF alone") }
                    isAfterCR = false
                    if lineLength == 0 { return .complete(end: position) }
                    if requestLineEnd == nil { requestLineEnd = position - 2 }
                    lineLength = 0
                } else if isAfterCR {
                    return .malformed("a CR without LF")
                } else if byte == 0x0D {
                    isAfterCR = true
                } else if byte < 0x20 && byte != 0x09 || byte == 0x7F {
                    return .malformed("a control character in the head")
                } else {
                    lineLength += 1
                }
            }
            return .incomplete
        }
    }
}
