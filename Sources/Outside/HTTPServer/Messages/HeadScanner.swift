/// Finds the end of a request's head as its bytes arrive, and refuses it at the first byte that no head may contain.
///
/// A line must end with CR and LF, and the tab is the only control character allowed. A reader before us may take a
/// lone LF for the end of a line, or a NUL for the end of a text, and see another request than we do. So everything
/// ambiguous is refused before it is parsed.
struct HeadScanner {
    enum ScanResult: Equatable {
        /// More bytes must arrive.
        case incomplete
        /// The head ends here, including its last empty line.
        case complete(end: Int)
        case malformed(String)
    }

    /// How far the bytes were scanned.
    private(set) var position = 0
    /// The end of the request line (its CR), once it has arrived.
    private(set) var requestLineEnd: Int?
    private var lineLength = 0
    private var isAfterCR = false

    /// Scans the new bytes. Empty lines before the request line do not belong to the request: the caller must drop them
    /// and start again.
    mutating func scan(_ bytes: [UInt8]) -> ScanResult {
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
