package import Accounts
package import Postgres
package import ServiceRuntime
package import Values

/// How the processes of the web pages beside services ended within the last day. They are started again, so only this
/// tells an operator that something is wrong with them.
package struct PagesEndings: Sendable {
    package let count: Int64
    /// Those of the last ten minutes.
    package let recent: Int64
    package let lastAt: Timestamp
    /// The service that had started the last one.
    package let node: String
    /// Such as `signal SIGILL`.
    package let why: String

    /// Whether it is the same fault again and again: nobody can use the pages then.
    package var isLasting: Bool { recent >= 3 }

    /// Nil if none has ended.
    package static func lately(on connection: inout Connection) throws(PostgresError) -> PagesEndings? {
        let rows = try connection.query(
            """
            SELECT count(*) OVER (),
                count(*) FILTER (WHERE ended_at > clock_timestamp() - interval '10 minutes') OVER (),
                ended_at, node, why
            FROM log.pages_ending WHERE ended_at > clock_timestamp() - interval '1 day' ORDER BY ended_at DESC LIMIT 1
            """)
        return try rows.first.map { row throws(PostgresError) in
            PagesEndings(
                count: try row.get(0), recent: try row.get(1), lastAt: try row.get(2), node: try row.get(3),
                why: try row.get(4))
        }
    }

    /// Remembers that one has ended. It never takes long, and a failure is only logged: a service accepts events
    /// without it.
    package static func note(_ why: String, of node: String, url: String, role: LogSession.Role, log: Log) {
        do throws(PostgresError) {
            var connection = try LogSession.open(url: url, role: role, purpose: "pages", log: log, statementSeconds: 5)
            connection.deadline = .after(seconds: 5)
            try connection.query("SELECT log.note_pages_ending(\(node), \(why))")
        } catch {
            log.warning("it could not be noted that the web pages ended", ["error": "\(error)"])
        }
    }

    /// For people, without a full stop.
    package var sentence: String {
        let times = count == 1 ? "once" : "\(count) times"
        return "the process of the web pages ended \(times) within a day, \(recent) of them within ten minutes, "
            + "last at \(lastAt) on \(node): \(why)"
    }
}
