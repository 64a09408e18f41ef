package import Postgres
internal import ServiceRuntime
package import Values

/// A question to the views: one text for PostgreSQL, with parameters, and one for people, with the values in it. Both
/// are written at once, so what people copy into psql is what was asked.
package struct Query: Sendable, ExpressibleByStringInterpolation {
    private var pieces: [Piece] = []

    fileprivate enum Piece: Sendable {
        case sql(String)
        case value(Statement.Parameter, shown: String)
    }

    package init(stringLiteral sql: String) { pieces = [.sql(sql)] }

    package init(stringInterpolation interpolation: StringInterpolation) { pieces = interpolation.pieces }

    /// What PostgreSQL is asked.
    package var statement: Statement {
        var (sql, parameters): (String, [Statement.Parameter]) = ("", [])
        for piece in pieces {
            switch piece {
            case .sql(let text): sql += text
            case .value(let parameter, _):
                parameters.append(parameter)
                sql += "$\(parameters.count)"
            }
        }
        return Statement(sql, parameters)
    }

    /// What people read, copy and run.
    package var shown: String {
        pieces.map { piece in
            switch piece {
            case .sql(let text): text
            case .value(_, let shown): shown
            }
        }.joined()
    }

    package static func + (left: Query, right: Query) -> Query {
        var sum = left
        sum.pieces += right.pieces
        return sum
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { pieces.append(.sql(literal)) }

        package mutating func appendInterpolation(_ text: String) {
            pieces.append(.value(.init(text), shown: Query.literal(text)))
        }
        package mutating func appendInterpolation(_ day: CivilDate) {
            pieces.append(.value(.init(day), shown: "date '\(day)'"))
        }
        package mutating func appendInterpolation(_ id: UUID) {
            pieces.append(.value(.init(id), shown: "uuid '\(id)'"))
        }
        package mutating func appendInterpolation(_ number: Int64) {
            pieces.append(.value(.init(number), shown: "\(number)"))
        }
        /// A part of a question.
        package mutating func appendInterpolation(_ part: Query) { pieces += part.pieces }
        /// A piece of our own SQL: never anything from outside.
        package mutating func appendInterpolation(sql piece: StaticString) { pieces.append(.sql(piece.description)) }
    }

    /// A text as SQL. What a page or a terminal would not show as it is, is written by its number, so that copying
    /// keeps it.
    static func literal(_ text: String) -> String {
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: false
            case .spaceSeparator: scalar == " "
            case .nonspacingMark, .enclosingMark, .spacingMark: false
            default: !scalar.properties.isNoncharacterCodePoint
            }
        }
        guard !text.unicodeScalars.allSatisfy(isPlain) else { return Statement.literal(text) }
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: #"\\"#.unicodeScalars)
            case "'": escaped.append(contentsOf: "''".unicodeScalars)
            case _ where isPlain(scalar): escaped.append(scalar)
            default:
                let isShort = scalar.value <= 0xFFFF
                let digits = String(scalar.value, digits: isShort ? 4 : 6, radix: 16, uppercase: true)
                escaped.append(contentsOf: "\\\(isShort ? "" : "+")\(digits)".unicodeScalars)
            }
        }
        return "U&'\(String(escaped))'"
    }
}
