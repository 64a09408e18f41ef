internal import CLibPQ
package import Values

/// A value whose type is known only when it has come.
package enum AnyPostgresValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    /// Exactly, as PostgreSQL writes it.
    case decimal(String)
    case double(Double)
    case flag(Bool)
    case day(CivilDate)
    case moment(Timestamp)
    case uuid(UUID)
}

/// Results of which the caller knows neither the columns nor their types.
extension Rows {
    package var columnNames: [String] {
        let count = unsafe PQnfields(handle)
        return (0..<count).map { column in
            unsafe PQfname(handle, column).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// The types of the columns, as PostgreSQL names them. What is none of those that our views have comes as text.
    package var columnTypes: [String] {
        (0..<(unsafe PQnfields(handle))).map { column in
            switch unsafe PQftype(handle, column) {
            case Int16.oid: "smallint"
            case Int32.oid: "integer"
            case Int64.oid: "bigint"
            case Double.oid: "double precision"
            case Bool.oid: "boolean"
            case CivilDate.oid: "date"
            case Timestamp.oid: "timestamptz"
            case UUID.oid: "uuid"
            case Decimal.oid: "numeric"
            case JSONB.oid: "jsonb"
            default: "text"
            }
        }
    }

    /// A value of any type that one of our views has; nil for NULL.
    package func any(_ row: Int, _ column: Int) throws(PostgresError) -> AnyPostgresValue? {
        let value = self[row]
        switch unsafe PQftype(handle, Int32(column)) {
        case Int16.oid: return try value.optional(column, as: Int16.self).map { .integer(Int64($0)) }
        case Int32.oid: return try value.optional(column, as: Int32.self).map { .integer(Int64($0)) }
        case Int64.oid: return try value.optional(column, as: Int64.self).map { .integer($0) }
        case Double.oid: return try value.optional(column, as: Double.self).map { .double($0) }
        case Bool.oid: return try value.optional(column, as: Bool.self).map { .flag($0) }
        case CivilDate.oid: return try value.optional(column, as: CivilDate.self).map { .day($0) }
        case Timestamp.oid: return try value.optional(column, as: Timestamp.self).map { .moment($0) }
        case UUID.oid: return try value.optional(column, as: UUID.self).map { .uuid($0) }
        case Decimal.oid: return try value.optional(column, as: Decimal.self).map { .decimal($0.text) }
        case JSONB.oid:
            return try value.optional(column, as: JSONB.self).map { .text(String(decoding: $0.text, as: UTF8.self)) }
        default: return try value.optional(column, as: String.self).map { .text($0) }
        }
    }
}

/// A `numeric`, as PostgreSQL writes it.
private struct Decimal: PostgresValue {
    static var oid: UInt32 { 1700 }
    let text: String

    func encode(into bytes: inout [UInt8]) { preconditionFailure("a numeric is only read") }

    /// Groups of four digits, the first of which counts 10000^weight; then how many digits follow the point.
    init?(binary bytes: UnsafeRawBufferPointer) {
        func half(_ place: Int) -> UInt16? {
            guard bytes.count >= 2 * place + 2 else { return nil }
            return unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * place, as: UInt16.self))
        }
        guard let count = half(0), let weightBits = half(1), let sign = half(2), let decimals = half(3) else {
            return nil
        }
        switch sign {
        case 0, 0x4000: break
        default:
            text = sign == 0xC000 ? "NaN" : sign == 0xD000 ? "Infinity" : "-Infinity"
            return
        }
        let weight = Int(Int16(bitPattern: weightBits))
        func group(_ power: Int) -> String {
            let place = weight - power
            let digits = place >= 0 && place < Int(count) ? half(4 + place) ?? 0 : 0
            return String(digits, digits: 4)
        }
        let whole = weight < 0 ? "0" : (0...weight).reversed().map(group).joined()
        let trimmed = String(whole.drop { $0 == "0" })
        var fraction = ""
        var power = -1
        while fraction.count < Int(decimals) {
            fraction += group(power)
            power -= 1
        }
        fraction = String(fraction.prefix(Int(decimals)))
        text =
            (sign == 0x4000 ? "-" : "") + (trimmed.isEmpty ? "0" : trimmed) + (fraction.isEmpty ? "" : "." + fraction)
    }
}
