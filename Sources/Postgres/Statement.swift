/// SQL with its parameters. Values in an interpolation are bound as `$1`, `$2`, …, never spliced into the text:
/// `"SELECT id FROM log.app WHERE slug = \(slug)"`.
package struct Statement: Sendable, ExpressibleByStringInterpolation {
    package let sql: String
    package let parameters: [Parameter]

    /// A value on its way, already in binary form; nil bytes are NULL.
    package struct Parameter: Sendable {
        package let oid: UInt32
        package let bytes: [UInt8]?

        package init<Value: PostgresValue>(_ value: Value?) {
            oid = Value.oid
            bytes = value.map { value in
                var bytes: [UInt8] = []
                value.encode(into: &bytes)
                return bytes
            }
        }
    }

    /// SQL that takes its parameters apart from the text.
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

        /// A piece of our own SQL, as it is: never anything that came from outside.
        package mutating func appendInterpolation(sql piece: StaticString) {
            sql += piece.description
        }
    }

    /// A name as SQL writes it, whatever it holds.
    package static func quoted(_ name: String) -> String { wrapped(name, in: "\"") }

    /// Text of our own as SQL writes it, for statements that take no parameters.
    package static func literal(_ text: String) -> String { wrapped(text, in: "'") }

    private static func wrapped(_ text: String, in quote: Unicode.Scalar) -> String {
        // Scalar by scalar: a quote and the accent that follows it are one Character, which is no quote.
        var quoted = String.UnicodeScalarView([quote])
        for scalar in text.unicodeScalars {
            if scalar == quote { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
