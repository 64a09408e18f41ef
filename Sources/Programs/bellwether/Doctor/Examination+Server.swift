internal import EmbeddedPostgres
internal import EventLog
internal import Health
internal import Migrations
internal import Postgres
internal import ServiceRuntime

extension Examination {
    static let server = Examination(name: "server", readsOurs: false) { _, connection in
        let row = try connection.query(
            "SELECT current_setting('server_version_num')::integer / 10000, current_setting('server_version')")[0]
        let (major, version): (Int32, String) = (try row.get(0), try row.get(1))
        let (oldest, newest) = (Int32(PostgresInstallation.oldestVersion), Int32(18))
        if major < oldest {
            return .fail(
                "PostgreSQL \(version) is too old", do: "use a server of version \(oldest) or newer",
                see: .databaseAway)
        }
        if major > newest {
            return .warn(
                "PostgreSQL \(version) is newer than what this program was tested with",
                do: "try it on a copy first, or use version \(newest)", see: .databaseAway)
        }
        return .ok("PostgreSQL \(version)")
    }

    static let migrations = Examination(name: "migrations", readsOurs: false) { _, connection in
        guard let misfit = try Migrations.state(of: &connection).misfit else {
            return .ok("the database is at this program's version")
        }
        return .fail(
            misfit, do: "that, then run bellwether doctor again: the other checks of the database wait for it",
            see: .databaseAway)
    }
}

extension Examination {
    static let clock = Examination(name: "clock") { _, connection in
        guard let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() else {
            return .ok("this machine's clock agrees with the database's")
        }
        return .fail(
            "\(fault): a serve on this machine accepts nothing",
            do:
                "set the clock (NTP); if this clock is right and only the last commits are ahead, "
                + "start serve --trust-clock once",
            see: .clockWrong)
    }
}

extension Examination {
    /// Whether data that was answered with 200 survives a crash.
    static let durability = Examination(name: "durability", readsOurs: false) { _, connection in
        // Read the setting as other sessions have it: our own sessions turn synchronous_commit on.
        let rows = try connection.query(
            """
            SELECT name, CASE name WHEN 'synchronous_commit' THEN reset_val ELSE setting END FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')
            """)
        var settings: [String: String] = [:]
        for row in rows { settings[try row.get(0)] = try row.get(1) }
        let lethal = ["fsync", "full_page_writes"].filter { settings[$0] == "off" }
        guard lethal.isEmpty else {
            return .fail(
                "\(lethal.joined(separator: " and ")) \(lethal.count == 1 ? "is" : "are") off: "
                    + "a power failure can destroy the database",
                do: lethal.map { "ALTER SYSTEM SET \($0) = on;" }.joined(separator: " ") + " SELECT pg_reload_conf();",
                see: .settingsUnsafe)
        }
        if let commit = settings["synchronous_commit"], ["off", "local"].contains(commit) {
            return .warn(
                "synchronous_commit is \(commit): Bellwether turns it on for itself, but no other program does",
                do: "set synchronous_commit = on", see: .settingsUnsafe)
        }
        return .ok("what is committed stays: fsync, full_page_writes and synchronous_commit are on")
    }

    static let checksums = Examination(name: "checksums", readsOurs: false) { _, connection in
        guard try connection.query("SHOW data_checksums")[0].get(0) == "off" else {
            return .ok("a damaged page is noticed when it is read (data_checksums)")
        }
        return .warn(
            "data_checksums is off: a page that the disk damages is read as if nothing had happened",
            do: "stop the server and run pg_checksums --enable", see: .settingsUnsafe)
    }

    static let connections = Examination(name: "connections", readsOurs: false) { _, connection in
        let row = try connection.query(
            """
            SELECT current_setting('max_connections')::integer
                    - current_setting('superuser_reserved_connections')::integer
                    - coalesce(current_setting('reserved_connections', true)::integer, 0),
                (SELECT coalesce(sum(numbackends), 0)::integer FROM pg_stat_database),
                (SELECT count(*)::integer FROM pg_stat_activity WHERE application_name LIKE 'bellwether %')
            """)[0]
        let (most, taken, ours): (Int32, Int32, Int32) = (try row.get(0), try row.get(1), try row.get(2))
        let what = "\(taken) of \(most) connections are taken, \(ours) of them by Bellwether"
        let remedy = "raise max_connections (a serve takes --writers, --lanes and some seven), or end idle sessions"
        if most - taken < 3 { return .fail(what, do: remedy, see: .connectionsTaken) }
        return most - taken < 12 ? .warn(what, do: remedy, see: .connectionsTaken) : .ok(what)
    }
}
