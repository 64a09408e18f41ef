internal import EmbeddedPostgres
internal import Migrations
internal import Postgres

extension Examination {
    static let server = Examination(name: "server", readsOurs: false) { _, connection in
        let row = try connection.query(
            "SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_version')")[0]
        let (major, version): (Int32, String) = (try row.get(0), try row.get(1))
        let (oldest, newest) = (Int32(PostgresInstallation.oldestVersion), Int32(18))
        if major < oldest {
            return .fail("PostgreSQL \(version) is too old", do: "use a server of version \(oldest) or newer")
        }
        if major > newest {
            return .warn(
                "PostgreSQL \(version) is newer than what this program was tested with",
                do: "try it on a copy first, or use version \(newest)")
        }
        return .ok("PostgreSQL \(version)")
    }

    static let migrations = Examination(name: "migrations", readsOurs: false) { _, connection in
        guard let misfit = try Migrations.runner.state(of: &connection).misfit else {
            return .ok("the database is at this program's version")
        }
        return .fail(misfit, do: "that, then run bellwether doctor again: the other checks of the database wait for it")
    }
}
