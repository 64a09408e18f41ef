import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// A copy of a server that follows it, and takes its place when it is gone.
final class Standby: Sendable {
    private let scratch = TemporaryDirectory()
    private let runner: [String]
    private let programs: PostgresInstallation

    /// Copies the server and waits until it follows, and commits wait for it.
    init(of server: DatabaseServer) throws {
        programs = try #require(try PostgresInstallation.all(deadline: .after(seconds: 30)).first)
        var owner = stat()
        #expect(stat(server.directory, &owner) == 0)
        runner =
            owner.st_uid == geteuid()
            ? [] : ["setpriv", "--reuid=\(owner.st_uid)", "--regid=\(owner.st_gid)", "--clear-groups", "--"]
        for name in ["data", "socket"] {
            mkdir(scratch(name), 0o700)
            chown(scratch(name), owner.st_uid, owner.st_gid)
        }
        var administrator = try server.administrator()
        try run(
            "pg_basebackup", "--pgdata=\(scratch("data"))", "--write-recovery-conf", "--checkpoint=fast",
            "--dbname=\(server.cluster.connectionURL(database: "postgres"))")
        try start()
        try administrator.execute(script: "ALTER SYSTEM SET synchronous_standby_names = '*'")
        try administrator.query("SELECT pg_reload_conf()")
        let follows = try eventually {
            try administrator.query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'").count == 1
        }
        #expect(follows)
    }

    deinit { try? run("pg_ctl", "--pgdata=\(scratch("data"))", "--mode=immediate", "stop") }

    /// A URL with both hosts, of which the one that takes writes is used.
    func url(beside server: DatabaseServer) throws -> String {
        let host = try #require(server.url.firstMatch(of: /host=([^&]+)/)).1
        return "postgresql://\(TestPostgres.owner)@/\(DatabaseServer.database)?host=\(host),"
            + "\(scratch("socket").replacingOccurrences(of: "/", with: "%2F"))&port=5432,5432"
            + "&target_session_attrs=read-write"
    }

    /// For the owner of everything, here alone.
    var url: String {
        let host = scratch("socket").replacingOccurrences(of: "/", with: "%2F")
        return "postgresql://\(TestPostgres.owner)@\(host):5432/\(DatabaseServer.database)"
    }

    func start() throws {
        try run(
            "pg_ctl", "--pgdata=\(scratch("data"))", "--log=\(scratch("data"))/standby.log", "--options",
            "-c logging_collector=off -c unix_socket_directories=\(scratch("socket"))", "start")
    }

    /// Dies as machines do.
    func kill() throws {
        let text = try String(contentsOfFile: scratch("data") + "/postmaster.pid", encoding: .utf8)
        let first = try #require(text.split(separator: "\n").first.flatMap { pid_t($0) })
        ProcessTable.kill(familyOf: first)
        // A machine that was off knows of no process; here the dead one's number may still be somebody's.
        for file in ["data/postmaster.pid", "socket/.s.PGSQL.5432.lock"] { unlink(scratch(file)) }
    }

    /// From now on it is the one.
    func promote() throws { try run("pg_ctl", "--pgdata=\(scratch("data"))", "promote") }

    private func run(_ program: String, _ words: String...) throws {
        let ended = try ChildProcess.run(runner + [programs.program(program)] + words)
        let log = (try? String(contentsOfFile: scratch("data") + "/standby.log", encoding: .utf8)) ?? ""
        #expect(ended.status == 0, "\(program): \(ended) \(log.suffix(2000))")
    }
}

extension ProcessTable {
    /// Kills a process and all that it has started, and waits until they are gone.
    static func kill(familyOf process: pid_t) {
        let family = family(of: process)
        for member in family { Foundation.kill(member, SIGKILL) }
        let areGone = eventually { !family.contains(where: isAlive) }
        #expect(areGone)
    }
}
