internal import ServiceRuntime
package import Values

/// A Swift value that is sent to PostgreSQL and read back in its binary format.
package protocol PostgresValue: Sendable {
    /// The type's object identifier, the same on all servers.
    static var oid: UInt32 { get }
    /// The identifier of its array type; 0 if there is none.
    static var arrayOID: UInt32 { get }
    /// Other types with the same binary form.
    static var readableOIDs: [UInt32] { get }
    func encode(into bytes: inout [UInt8])
    /// Nil if the bytes are malformed.
    init?(binary bytes: UnsafeRawBufferPointer)
}

extension PostgresValue {
    package static var arrayOID: UInt32 { 0 }
    package static var readableOIDs: [UInt32] { [] }
}

extension [UInt8] {
    /// In network order, like every number of the protocol.
    package mutating func append(bigEndian number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { bytes in unsafe append(contentsOf: bytes) }
    }
}

extension FixedWidthInteger {
    /// Reads exactly its own width, in network order.
    package init?(bigEndian bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.bitWidth / 8 else { return nil }
        self = unsafe Self(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

extension Int16: PostgresValue {
    package static var oid: UInt32 { 21 }
    package static var arrayOID: UInt32 { 1005 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    package init?(binary bytes: UnsafeRawBufferPointer) { unsafe self.init(bigEndian: bytes) }
}

extension Int32: PostgresValue {
    package static var oid: UInt32 { 23 }
    package static var arrayOID: UInt32 { 1007 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    package init?(binary bytes: UnsafeRawBufferPointer) { unsafe self.init(bigEndian: bytes) }
}

extension Int64: PostgresValue {
    package static var oid: UInt32 { 20 }
    package static var arrayOID: UInt32 { 1016 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: self) }
    package init?(binary bytes: UnsafeRawBufferPointer) { unsafe self.init(bigEndian: bytes) }
}

extension Double: PostgresValue {
    package static var oid: UInt32 { 701 }
    package static var arrayOID: UInt32 { 1022 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: bitPattern) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let bits = unsafe UInt64(bigEndian: bytes) else { return nil }
        self.init(bitPattern: bits)
    }
}

extension Bool: PostgresValue {
    package static var oid: UInt32 { 16 }
    package static var arrayOID: UInt32 { 1000 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 1 else { return nil }
        self = unsafe bytes[0] != 0
    }
}

extension String: PostgresValue {
    package static var oid: UInt32 { 25 }
    package static var arrayOID: UInt32 { 1009 }
    /// name, varchar, bpchar, json, "char", unknown
    package static var readableOIDs: [UInt32] { [19, 1043, 1042, 114, 18, 705] }
    package func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: utf8) }
    package init?(binary bytes: UnsafeRawBufferPointer) { unsafe self.init(decoding: bytes, as: UTF8.self) }
}

extension Timestamp: PostgresValue {
    package static var oid: UInt32 { 1184 }
    package static var arrayOID: UInt32 { 1185 }
    /// The microseconds from 1970 to 2000: PostgreSQL counts from 2000-01-01.
    private static var epoch: Int64 { 946_684_800_000_000 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: microsecondsOfPostgres) }
    /// Microseconds since 2000, as PostgreSQL counts. What is too early for that is -infinity there.
    var microsecondsOfPostgres: Int64 { microseconds.subtractingSaturated(Self.epoch) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let since2000 = unsafe Int64(bigEndian: bytes) else { return nil }
        // The extremes are -infinity and infinity, which are no moments.
        let (microseconds, overflow) = since2000.addingReportingOverflow(Self.epoch)
        guard !overflow, since2000 != .min else { return nil }
        self.init(microseconds: microseconds)
    }
}

extension UUID: PostgresValue {
    package static var oid: UInt32 { 2950 }
    package static var arrayOID: UInt32 { 2951 }
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
    }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        let high = unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        let low = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        self.init(high: high, low: low)
    }
}

extension CivilDate: PostgresValue {
    package static var oid: UInt32 { 1082 }
    package static var arrayOID: UInt32 { 1182 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(bigEndian: daysOfPostgres) }
    /// Days since 2000, as PostgreSQL counts.
    var daysOfPostgres: Int32 { Int32(clamping: daysSince1970 - 10_957) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let days = unsafe Int32(bigEndian: bytes) else { return nil }
        self.init(daysSince1970: Int(days) + 10_957)
    }
}

/// Raw bytes.
package struct Bytea: PostgresValue, Hashable {
    package var bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package static var oid: UInt32 { 17 }
    package static var arrayOID: UInt32 { 1001 }
    package func encode(into bytes: inout [UInt8]) { bytes.append(contentsOf: self.bytes) }
    package init?(binary bytes: UnsafeRawBufferPointer) { unsafe self.bytes = Array(bytes) }
}

/// JSON text that PostgreSQL stores parsed.
package struct JSONB: PostgresValue, Hashable {
    package var text: [UInt8]
    package init(_ text: [UInt8]) { self.text = text }
    package static var oid: UInt32 { 3802 }
    package static var arrayOID: UInt32 { 3807 }
    package func encode(into bytes: inout [UInt8]) {
        bytes.append(JSONB.version)
        bytes.append(contentsOf: text)
    }
    /// The version of the binary format.
    static let version: UInt8 = 1

    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard unsafe bytes.first == JSONB.version else { return nil }
        text = unsafe Array(bytes.dropFirst())
    }
}

extension Array: PostgresValue where Element: PostgresValue {
    package static var oid: UInt32 { Element.arrayOID }
    package func encode(into bytes: inout [UInt8]) {
        PostgresArray.encodeHeader(of: Element.self, count: count, hasNull: false, into: &bytes)
        for element in self {
            PostgresArray.encode(element, into: &bytes)
        }
    }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let elements = unsafe PostgresArray.decode(Element.self, from: bytes) else { return nil }
        self.init()
        reserveCapacity(elements.count)
        for element in elements {
            guard let element else { return nil }
            append(element)
        }
    }
}

/// An array some of whose elements may be null.
package struct Nullables<Element: PostgresValue>: PostgresValue {
    package var elements: [Element?]
    package init(_ elements: [Element?]) { self.elements = elements }
    package static var oid: UInt32 { Element.arrayOID }
    package func encode(into bytes: inout [UInt8]) {
        let hasNull = elements.contains { $0 == nil }
        PostgresArray.encodeHeader(of: Element.self, count: elements.count, hasNull: hasNull, into: &bytes)
        for element in elements {
            if let element {
                PostgresArray.encode(element, into: &bytes)
            } else {
                bytes.append(bigEndian: Int32(-1))
            }
        }
    }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let elements = unsafe PostgresArray.decode(Element.self, from: bytes) else { return nil }
        self.elements = elements
    }
}

/// The binary form of one-dimensional arrays.
enum PostgresArray {
    /// Encodes numbers, none of them null, in memory that it reserves at once.
    @inline(__always)
    static func encode<Number: FixedWidthInteger>(_ numbers: [Number], of oid: UInt32, into bytes: inout [UInt8]) {
        let width = Number.bitWidth / 8
        let start = bytes.count
        let size = numbers.isEmpty ? 12 : 20 + numbers.count * (4 + width)
        bytes.append(contentsOf: repeatElement(0, count: size))
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var place = start
            func put<Integer: FixedWidthInteger>(_ number: Integer) {
                unsafe bytes.storeBytes(of: number.bigEndian, toByteOffset: place, as: Integer.self)
                place += Integer.bitWidth / 8
            }
            put(Int32(numbers.isEmpty ? 0 : 1))
            put(Int32(0))
            put(oid)
            guard !numbers.isEmpty else { return }
            put(Int32(numbers.count))
            put(Int32(1))
            for number in numbers {
                put(Int32(width))
                put(number)
            }
        }
    }

    static func encodeHeader<Element: PostgresValue>(
        of _: Element.Type, count: Int, hasNull: Bool, into bytes: inout [UInt8]
    ) {
        bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
        bytes.append(bigEndian: Int32(hasNull ? 1 : 0))
        bytes.append(bigEndian: Element.oid)
        guard count > 0 else { return }
        bytes.append(bigEndian: Int32(count))
        bytes.append(bigEndian: Int32(1))
    }

    static func encode(_ element: some PostgresValue, into bytes: inout [UInt8]) {
        bytes.appendSized { bytes in element.encode(into: &bytes) }
    }

    static func decode<Element: PostgresValue>(
        _: Element.Type, from bytes: UnsafeRawBufferPointer
    ) -> [Element?]? {
        var rest = unsafe bytes[...]
        func int() -> Int? {
            guard unsafe rest.count >= 4 else { return nil }
            defer { unsafe rest = rest.dropFirst(4) }
            return unsafe Int32(bigEndian: UnsafeRawBufferPointer(rebasing: rest.prefix(4))).map(Int.init)
        }
        guard let dimensions = int(), int() != nil, let oid = int(), oid == Int(Element.oid) else { return nil }
        guard dimensions == 1 else { return dimensions == 0 ? [] : nil }
        guard let count = int(), count >= 0, int() != nil else { return nil }
        var elements: [Element?] = []
        for _ in 0..<count {
            guard let length = int() else { return nil }
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard unsafe rest.count >= length,
                let element = unsafe Element(binary: UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
            else { return nil }
            elements.append(element)
            unsafe rest = rest.dropFirst(length)
        }
        return elements
    }
}

extension [UInt8] {
    /// Writes a value with its length before it.
    package mutating func appendSized(_ write: (inout [UInt8]) -> Void) {
        let start = count
        append(bigEndian: Int32(0))
        write(&self)
        let length = Int32(count - start - 4).bigEndian
        unsafe withUnsafeMutableBytes { bytes in
            unsafe bytes.storeBytes(of: length, toByteOffset: start, as: Int32.self)
        }
    }
}
