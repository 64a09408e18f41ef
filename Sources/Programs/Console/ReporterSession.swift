internal import Accounts
package import Postgres
package import ServiceRuntime

/// A database session with the role that makes reports.
package struct ReporterSession {
    private let access: DatabaseAccess
    private let log: Log

    package init(access: DatabaseAccess, log: Log) {
        self.access = access
        self.log = log
    }

    package func open() throws -> Connection {
        do {
            var connection = try LogSession.open(
                url: access.url, role: .reporter, purpose: "report", log: log, statementSeconds: 600)
            try connection.query("SELECT FROM analytics.reports LIMIT 0")
            return connection
        } catch {
            switch error.state {
            case .insufficientPrivilege?:
                throw Failure(
                    "this login may not make reports. As the owner of the database, run: "
                        + "GRANT bellwether_reporter TO the login"
                )
            // For SET ROLE, a role that does not exist is an invalid parameter value.
            case .undefinedTable?, SQLState("22023")?:
                throw Failure("the database is not at this program's version: run bellwether migrate")
            default: throw error
            }
        }
    }
}

extension PostgresError {
    /// Why a report was not kept, and what to do.
    package var whyNotKept: String {
        let cause =
            switch state {
            case .insufficientPrivilege:
                "As the owner of the database, run: GRANT SELECT, INSERT ON report.kept, report.told TO "
                    + "bellwether_reporter; GRANT SELECT, INSERT, UPDATE ON report.letter TO bellwether_reporter"
            case .readOnlyTransaction: "This database accepts no writes, like a standby: use the primary"
            default: description
            }
        return "the report was made but not kept, so it cannot be printed again. \(cause)"
    }
}
