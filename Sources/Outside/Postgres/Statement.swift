package import Values

/// The first parameters, by number.
private let names = (0..<32).map { "$\($0)" }

/// SQL with its parameters. Values in an interpolation are bound as `$1`, `$2`, …, never spliced into the text:
/// `"SELECT id FROM log.app WHERE slug = \(slug)"`.
package struct Statement: Sendable, ExpressibleByStringInterpolation {
    package let sql: String
    package let parameters: [Parameter]

    /// A value in binary form; nil bytes are NULL.
    package struct Parameter: Sendable {
        package let oid: UInt32
        package let bytes: [UInt8]?

        fileprivate init(oid: UInt32, bytes: [UInt8]?) { (self.oid, self.bytes) = (oid, bytes) }

        package init<Value: PostgresValue>(_ value: Value?) {
            oid = Value.oid
            bytes = value.map { value in
                var bytes: [UInt8] = []
                value.encode(into: &bytes)
                return bytes
            }
        }
    }

    /// SQL with its parameters given separately.
    package init(_ sql: String, _ parameters: [Parameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }

    package init(stringLiteral sql: String) {
        self.init(sql)
    }

    package init(stringInterpolation interpolation: StringInterpolation) {
        self.init(interpolation.sql, interpolation.parameters)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = ""
        fileprivate var parameters: [Parameter] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + 4 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) {
            sql += literal
        }

        // The types that every commit and step binds have their own methods: generic code is not specialised across our
        // modules.
        package mutating func appendInterpolation(_ value: Int32) { append(Int32.oid) { value.encode(into: &$0) } }
        package mutating func appendInterpolation(_ value: Int64) { append(Int64.oid) { value.encode(into: &$0) } }
        package mutating func appendInterpolation(_ value: String) { append(String.oid) { value.encode(into: &$0) } }
        package mutating func appendInterpolation(_ value: Timestamp?) {
            guard let value else { return append(Timestamp.oid, nil) }
            append(Timestamp.oid) { value.encode(into: &$0) }
        }
        package mutating func appendInterpolation(_ value: [Int32]) {
            append(Int32.arrayOID) { PostgresArray.encode(value, of: Int32.oid, into: &$0) }
        }
        package mutating func appendInterpolation(_ value: [Int64]) {
            append(Int64.arrayOID) { PostgresArray.encode(value, of: Int64.oid, into: &$0) }
        }
        package mutating func appendInterpolation(_ value: [UUID]) { append([UUID].oid) { value.encode(into: &$0) } }
        package mutating func appendInterpolation(_ value: [String]) {
            append([String].oid) { value.encode(into: &$0) }
        }
        package mutating func appendInterpolation(_ value: [CivilDate]) {
            append([CivilDate].oid) { value.encode(into: &$0) }
        }
        package mutating func appendInterpolation(_ value: [Timestamp]) {
            append([Timestamp].oid) { value.encode(into: &$0) }
        }

        private mutating func append(_ oid: UInt32, _ write: (inout [UInt8]) -> Void) {
            var bytes: [UInt8] = []
            write(&bytes)
            append(oid, bytes)
        }

        private mutating func append(_ oid: UInt32, _ bytes: [UInt8]?) {
            parameters.append(Parameter(oid: oid, bytes: bytes))
            sql += parameters.count < names.count ? names[parameters.count] : "$\(parameters.count)"
        }

        package mutating func appendInterpolation(_ value: some PostgresValue) {
            parameters.append(Parameter(value))
            sql += "$\(parameters.count)"
        }

        package mutating func appendInterpolation<Value: PostgresValue>(_ value: Value?) {
            parameters.append(Parameter(value))
            sql += "$\(parameters.count)"
        }

        /// The name of a table, schema or role, quoted.
        package mutating func appendInterpolation(identifier name: String) {
            sql += Statement.quoted(name)
        }

        /// A piece of our own SQL, inserted as it is: never anything from outside.
        package mutating func appendInterpolation(sql piece: StaticString) {
            sql += piece.description
        }

        /// SQL that follows from a declaration of our own, such as the columns of a row: never anything from outside.
        package mutating func appendInterpolation(declared piece: String) {
            sql += piece
        }
    }

    /// A quoted identifier, whatever the name contains.
    package static func quoted(_ name: String) -> String { wrapped(name, in: "\"") }

    /// A quoted literal of our own text, for statements that take no parameters.
    package static func literal(_ text: String) -> String { wrapped(text, in: "'") }

    private static func wrapped(_ text: String, in quote: Unicode.Scalar) -> String {
        // Scalar by scalar: a quote followed by a combining accent is one Character, which does not equal a quote.
        var quoted = String.UnicodeScalarView([quote])
        for scalar in text.unicodeScalars {
            if scalar == quote { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
