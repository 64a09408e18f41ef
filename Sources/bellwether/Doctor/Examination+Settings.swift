internal import Postgres

extension Examination {
    /// What a 200 is worth after a crash.
    static let durability = Examination(name: "durability", readsOurs: false) { _, connection in
        // As others find it: our own sessions turn synchronous_commit on.
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
                "\(lethal.joined(separator: " and ")) \(lethal.count == 1 ? "is" : "are") off: a power failure can destroy the database",
                do: lethal.map { "ALTER SYSTEM SET \($0) = on;" }.joined(separator: " ") + " SELECT pg_reload_conf();")
        }
        if let commit = settings["synchronous_commit"], ["off", "local"].contains(commit) {
            return .warn(
                "synchronous_commit is \(commit): Bellwether turns it on for itself, but no other program does",
                do: "set synchronous_commit = on")
        }
        return .ok("what is committed stays: fsync, full_page_writes and synchronous_commit are on")
    }

    static let checksums = Examination(name: "checksums", readsOurs: false) { _, connection in
        guard try connection.query("SHOW data_checksums")[0].get(0) == "off" else {
            return .ok("a damaged page is noticed when it is read (data_checksums)")
        }
        return .warn(
            "data_checksums is off: a page that the disk damages is read as if nothing had happened",
            do: "stop the server and run pg_checksums --enable")
    }

    static let connections = Examination(name: "connections", readsOurs: false) { _, connection in
        let row = try connection.query(
            """
            SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                    - coalesce(current_setting('reserved_connections', true)::integer, 0),
                (SELECT coalesce(sum(numbackends), 0)::integer FROM pg_stat_database),
                (SELECT count(*)::integer FROM pg_stat_activity WHERE application_name LIKE 'bellwether %')
            """)[0]
        let (most, taken, ours): (Int32, Int32, Int32) = (try row.get(0), try row.get(1), try row.get(2))
        let what = "\(taken) of \(most) connections are taken, \(ours) of them by Bellwether"
        let remedy = "raise max_connections (a serve takes --writers, --lanes and some six), or end idle sessions"
        if most - taken < 3 { return .fail(what, do: remedy) }
        return most - taken < 12 ? .warn(what, do: remedy) : .ok(what)
    }
}
