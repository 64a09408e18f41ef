extension JSONSlicer {
    /// The path of the byte at `offset` within a value: `.notification.category`, `.list[3].name`. Keys appear as they
    /// are spelled, shortened to fit a sentence, with question marks for unusual characters. Long paths are shortened,
    /// too.
    package static func path(
        to offset: Int, ofValueAt start: Int, in bytes: Span<UInt8>, levels: Int = 8
    ) -> String {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            var slicer = unsafe JSONSlicer(bytes)
            slicer.position = start
            var path = ""
            for _ in 0..<levels {
                guard let step = slicer.step(towards: offset) else { break }
                path += step
            }
            return path
        }
    }

    /// The offset of the first U+0000 within a value. It can only occur as an escape.
    package static func offset(ofNULIn range: Range<Int>, of bytes: Span<UInt8>) -> Int? {
        let escape = Array("u0000".utf8)
        var position = range.lowerBound
        while position + escape.count < range.upperBound {
            if bytes[position] == UInt8(ascii: "\\") {
                if escape.indices.allSatisfy({ bytes[position + 1 + $0] == escape[$0] }) { return position }
                position += 1
            }
            position += 1
        }
        return nil
    }

    /// Goes from a container to the child that contains the offset, and returns that child's name or index.
    private mutating func step(towards offset: Int) -> String? {
        let isObject = current == UInt8(ascii: "{")
        guard isObject || current == UInt8(ascii: "[") else { return nil }
        position += 1
        var index = 0
        while true {
            skipSpace()
            var name = "[\(index)]"
            if isObject {
                guard current == UInt8(ascii: "\"") else { return nil }
                let key = position
                skipString()
                let spelled = unsafe bytes[(key + 1)..<max(key + 1, position - 1)].prefix(64)
                name =
                    unsafe "."
                    + String(
                        spelled.map { byte in
                            (0x21...0x7E).contains(byte) ? Character(Unicode.Scalar(byte)) : "?"
                        })
                skipSpace()
                position += 1
                skipSpace()
            }
            let child = position
            guard child < end, current != UInt8(ascii: "]") else { return nil }
            skipValue()
            if offset < position {
                position = child
                return name
            }
            skipSpace()
            guard current == UInt8(ascii: ",") else { return nil }
            position += 1
            index += 1
        }
    }
}
