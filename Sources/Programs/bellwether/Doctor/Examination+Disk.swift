internal import Console
internal import EmbeddedPostgres
internal import Glibc
internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Examination {
    /// Only for the embedded database: the disk of any other database may be on another machine.
    static let disk = Examination(name: "disk", readsOurs: false) { access, _ in
        guard let directory = access.server?.dataDirectory else { return nil }
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0 else {
            return .warn(
                "the disk of \(directory) could not be measured", do: "run doctor as who owns the directory",
                see: .diskFull)
        }
        return judge(
            directory, free: Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize),
            of: Int(clamping: status.f_blocks) * Int(clamping: status.f_frsize))
    }

    /// A full disk stops every commit, and the write-ahead log needs room to be reused.
    static func judge(_ directory: String, free: Int, of all: Int) -> Finding {
        let what = "\(free >> 20) MiB free of \(all >> 20) MiB in \(directory)"
        let remedy =
            "make room, or move the data directory to a larger disk; bellwether retain --days N drops old events"
        if free < 512 << 20 { return .fail(what, do: remedy, see: .diskFull) }
        return free < 4 << 30 || free < all / 20 ? .warn(what, do: remedy, see: .diskFull) : .ok(what)
    }
}

extension Examination {
    static let archive = Examination(name: "archive", readsOurs: false) { _, connection in
        let row = try connection.query(
            """
            SELECT current_setting('archive_mode'), current_setting('archive_command'),
                coalesce(current_setting('archive_library', true), ''), last_archived_time, last_failed_time,
                    last_failed_wal
            FROM pg_stat_archiver
            """)[0]
        guard try row.get(0) != "off" else {
            return .ok("archive_mode is off: after a loss of the disk there is what the last backup holds")
        }
        guard try row.get(1, as: String.self) + row.get(2, as: String.self) != "" else {
            return .fail(
                "archive_mode is on, and neither archive_command nor archive_library says how: "
                    + "the write-ahead log piles up",
                do: "set archive_command, or archive_mode = off", see: .archiveFails)
        }
        let (archived, failed): (Timestamp?, Timestamp?) = (try row.optional(3), try row.optional(4))
        if let failed, archived.map({ $0 < failed }) ?? true {
            let file: String = try row.optional(5) ?? ""
            return .fail(
                "archiving fails: \(file) at \(failed), and none was archived since; the write-ahead log piles up",
                do: "see the log of PostgreSQL, and correct archive_command or the archive's disk", see: .archiveFails)
        }
        return .ok(
            archived.map { "the write-ahead log is archived, last at \($0)" } ?? "nothing had to be archived yet")
    }

    /// A backup a week, and a day for the run itself.
    private static let mostDays: Int64 = 8

    /// Backups that were noted: by bellwether backup, or by another tool that makes them.
    static let backup = Examination(name: "backup") { _, connection in
        let row = try connection.query(
            """
            SELECT (SELECT max(finished_at) FROM bellwether.backup), (SELECT created_at FROM log.head),
                clock_timestamp()
            """
        )[0]
        let (last, made, now): (Timestamp?, Timestamp, Timestamp) = (
            try row.optional(0), try row.get(1), try row.get(2)
        )
        let days = (now - (last ?? made)) / 86_400_000_000
        if days >= mostDays {
            return .warn(
                last.map { "the last backup was finished at \($0), \(days) days ago" }
                    ?? "no backup is known of, and the database is \(days) days old",
                do:
                    "run bellwether backup DIR each night or week; if another program makes backups, let it note each "
                    + "one: INSERT INTO bellwether.backup DEFAULT VALUES", see: .backupOld)
        }
        return .ok(last.map { "the last backup was finished at \($0)" } ?? "the database is new, and has no backup yet")
    }

    static let standby = Examination(name: "standby", readsOurs: false) { _, connection in
        let row = try connection.query(
            """
            SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names'),
                (SELECT count(*) FROM pg_stat_replication),
                (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
                pg_has_role(current_user, 'pg_read_all_stats', 'MEMBER')
            """)[0]
        if try row.get(0) {
            return .fail(
                "this server is a standby and accepts no writes", do: "give the URL of the primary", see: .standbyAway)
        }
        let (names, all, synchronous): (String, Int64, Int64) = (try row.get(1), try row.get(2), try row.get(3))
        // A user who may not see the state of each one can at least see whether there is one.
        let present = try row.get(4) ? synchronous : all
        if !names.isEmpty, present == 0 {
            return .fail(
                "commits wait for a standby (synchronous_standby_names), and none is connected",
                do: "start the standby; to go on knowingly without one, empty synchronous_standby_names",
                see: .standbyAway)
        }
        if !names.isEmpty { return .ok("each commit waits for a standby, and \(all) connected") }
        return .ok(all > 0 ? "\(all) connected, asynchronous: a failover can lose the last moments" : "there is none")
    }
}
