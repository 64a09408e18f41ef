/// Extracts a body from the bytes that carry it.
enum BodyDecoder {
    case counted(left: Int)
    case chunked(ChunkedBody)

    init(_ framing: BodyFraming) {
        switch framing {
        case .none: self = .counted(left: 0)
        case .length(let length): self = .counted(left: length)
        case .chunked: self = .chunked(ChunkedBody())
        }
    }

    /// Whether the body is complete.
    var isDone: Bool {
        switch self {
        case .counted(let left): left == 0
        case .chunked(let chunks): chunks.isDone
        }
    }

    /// How much is still to come, if known.
    var left: Int? { if case .counted(let left) = self { left } else { nil } }

    /// Returns the next piece of the body at the front of `bytes`, and how many of the `bytes` it used. The piece is
    /// empty if more bytes must arrive or the body is complete.
    mutating func next(_ bytes: ArraySlice<UInt8>) throws(RequestFault) -> (piece: ArraySlice<UInt8>, used: Int) {
        switch self {
        case .counted(let left):
            let piece = bytes.prefix(left)
            self = .counted(left: left - piece.count)
            return (piece, piece.count)
        case .chunked(var chunks):
            // Avoids a second reference, and so a copy, while it changes.
            self = .counted(left: 0)
            defer { self = .chunked(chunks) }
            return try chunks.next(bytes)
        }
    }
}

/// A chunked body (RFC 9112, 7.1). It is parsed as strictly as a head, for the same reason: each line ends with CR and
/// LF, a size is hexadecimal digits, and only a `;` and printable characters may follow the size.
struct ChunkedBody {
    private enum Place: Equatable {
        case size
        case data(left: Int)
        case dataEnd
        case trailer
        case done
    }

    private var place = Place.size
    /// The current line: its size so far, and what is known about it.
    private var line: [UInt8] = []
    /// The size of all extensions and trailer fields. Nobody needs them.
    private var extras = 0

    private static let mostDigits = 15
    private static let mostExtras = 8 << 10

    var isDone: Bool { place == .done }

    mutating func next(_ bytes: ArraySlice<UInt8>) throws(RequestFault) -> (piece: ArraySlice<UInt8>, used: Int) {
        var rest = bytes
        while !rest.isEmpty {
            switch place {
            case .done:
                return ([], bytes.count - rest.count)
            case .data(let left):
                let piece = rest.prefix(left)
                place = piece.count == left ? .dataEnd : .data(left: left - piece.count)
                return (piece, bytes.count - rest.count + piece.count)
            case .dataEnd:
                guard try takeLine(&rest) else { break }
                guard line.isEmpty else { throw .malformed(detail: "a chunk is longer than its size") }
                place = .size
            case .size:
                guard try takeLine(&rest) else { break }
                let size = try ChunkedBody.size(in: line)
                clearLine()
                place = size == 0 ? .trailer : .data(left: size)
            case .trailer:
                guard try takeLine(&rest) else { break }
                if line.isEmpty {
                    place = .done
                    line = []
                } else {
                    // Check it by the rules of all fields, then drop it.
                    _ = try HeaderFields(line + [0x0D, 0x0A])
                    clearLine()
                }
            }
        }
        return ([], bytes.count)
    }

    /// Reads up to the end of a line; true when `line` is complete. The line keeps its CR until the LF arrives.
    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) throws(RequestFault) -> Bool {
        while let byte = rest.popFirst() {
            if line.last == 0x0D {
                guard byte == 0x0A else { throw .malformed(detail: "a CR without LF in a chunked body") }
                line.removeLast()
                return true
            }
            guard byte == 0x0D || byte == 0x09 || byte >= 0x20 && byte != 0x7F else {
                throw .malformed(detail: "a control character in a chunked body")
            }
            // After a chunk's data, only the end of the line may follow.
            guard place != .dataEnd || byte == 0x0D else { throw .malformed(detail: "a chunk is longer than its size") }
            line.append(byte)
            if place == .trailer || line.count > ChunkedBody.mostDigits {
                extras += 1
                guard extras <= ChunkedBody.mostExtras else {
                    throw .malformed(detail: "the extensions and trailers of a chunked body are too long")
                }
            }
        }
        return false
    }

    /// Keeps the memory of a short line for the next one: a body may have one chunk per byte.
    private mutating func clearLine() {
        if line.capacity <= 64 { line.removeAll(keepingCapacity: true) } else { line = [] }
    }

    private static func size(in line: [UInt8]) throws(RequestFault) -> Int {
        var (size, digits) = (0, 0)
        while digits < min(line.count, mostDigits), let value = hexValue(of: line[digits]) {
            size = size << 4 | value
            digits += 1
        }
        let extensions = line[digits...].drop { $0 == 0x20 || $0 == 0x09 }
        guard digits > 0, line.count == digits || extensions.first == UInt8(ascii: ";") else {
            throw .malformed(detail: "the size of a chunk is not a hexadecimal number")
        }
        return size
    }

    private static func hexValue(of byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
