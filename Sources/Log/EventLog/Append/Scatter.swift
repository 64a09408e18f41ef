package import Postgres
internal import Values

/// Makes SQL for hashes that stand for names in joins: a SHA-256 with a secret, which costs half as much as an MD5.
///
/// PostgreSQL's hashes of texts and ids have no secret. Clients choose these, so they can make many that have one hash,
/// and a hash join over them then compares each with each. Joins over these hashes find few rows at once, whatever the
/// names are. The names are compared as well: they decide.
package struct Scatter: Sendable {
    /// A new one for each transaction, so it is of no use to anybody who sees the SQL.
    private let secret: UUID

    package init(on connection: inout Connection) throws(PostgresError) {
        secret = try connection.query("SELECT gen_random_uuid()")[0].get(0)
    }

    /// SQL for the hash of the notification and the install of a row.
    package func delivery(_ row: String) -> Piece {
        Piece("sha256('\(secret)' || convert_to(\(row).notification_key, 'UTF8') || uuid_send(\(row).install_id))")
    }

    /// SQL for the hash of the install of a row.
    package func install(_ row: String) -> Piece { Piece("sha256('\(secret)' || uuid_send(\(row).install_id))") }

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
