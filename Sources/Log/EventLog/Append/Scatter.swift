package import Postgres
internal import Values

/// Makes SQL for hashes that stand for names in joins and groups. Their seed is a secret.
///
/// PostgreSQL's hashes of texts and ids have no secret. Clients choose these, so they can make many that have one hash,
/// and a hash join over them then compares each with each. Under a seed that nobody knows and that is used once, names
/// that are made to collide do not. The names are compared as well: they decide.
package struct Scatter: Sendable {
    /// A new one for each transaction, so it is of no use to anybody who sees the SQL.
    private let secret = Int64.random(in: .min ... .max)

    package init() {}

    /// SQL for the hash of the notification and the install of a row.
    package func delivery(_ row: String) -> Piece {
        Piece("hashtextextended(\(row).notification_key, \(install(row)))")
    }

    /// SQL for the hash of the install of a row.
    package func install(_ row: String) -> Piece { Piece("uuid_hash_extended(\(row).install_id, '\(secret)'::bigint)") }

    /// SQL for the number of the event of a row, whose device time is in this column.
    package func event(_ row: String, at deviceTime: String) -> Piece {
        Piece("md5('\(secret)' || \(row).event_id || \(row).install_id || \(row).\(deviceTime))::uuid")
    }

    /// SQL for a number below `count` that follows from some columns: it divides rows into parts of about the same
    /// size.
    package func part(_ columns: [String], of count: Int64) -> String {
        "mod(('x' || left(md5('\(secret)' || ROW(\(columns.joined(separator: ", ")))::text), 8))::bit(32)::bigint, \(count))"
    }

    /// SQL for whether two rows have the same hash of an install.
    package func isSameInstall(_ left: String, _ right: String) -> Piece {
        Piece("\(install(left)) = \(install(right))")
    }

    /// SQL that only a `Scatter` makes, and that may be part of any statement.
    package struct Piece: CustomStringConvertible {
        package let description: String

        fileprivate init(_ sql: String) { description = sql }
    }
}

extension Statement.StringInterpolation {
    package mutating func appendInterpolation(_ piece: Scatter.Piece) { appendLiteral(piece.description) }
}
