import EmbeddedPostgres
import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

@Suite("Backup and restore, as Docs/Operations.md says")
struct BackupGuideTests {
    private let scratch = TemporaryDirectory()

    /// The commands for the embedded database, as they stand there.
    private static func commands() throws -> String {
        let blocks = try ProjectFolder.text(of: "Docs/Operations.md").components(separatedBy: "```sh\n").dropFirst()
        let recipes = blocks.compactMap { $0.components(separatedBy: "```").first }
            .filter {
                $0.contains("pg_restore") && $0.contains("bellwether database-url") && !$0.contains("--use-list")
            }
        return try #require(recipes.count == 1 ? recipes[0] : nil)
    }

    @Test("an embedded database goes by its dump into a new data directory, and is proved there")
    func embedded() throws {
        let named = "/var/lib/bellwether-restored"
        let commands = try Self.commands()
        #expect(commands.contains(named))
        let (old, new) = (Bellwether(data: scratch("old")), Bellwether(data: scratch("new")))
        defer { for bellwether in [old, new] { _ = try? bellwether.run("database", "stop", "--force") } }
        let key = String(try old.trusted("app", "create", "shop").dropLast())
        let service = try old.serve()
        #expect(try service.client().post(Wire.envelope(Wire.event(), Wire.event()), key: key).results.accepted == 2)
        #expect(try service.stop() == 0)

        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let restored = try ChildProcess.run(
            ["sh", "-euc", "cd '\(scratch.path)'\n" + commands.replacing(named, with: scratch("new"))],
            environment: [
                "PATH": (Bellwether.path as NSString).deletingLastPathComponent + ":" + path,
                "BELLWETHER_DATA": scratch("old"),
            ], within: 180)
        #expect(restored.status == 0, "\(restored.messages)")
        #expect(
            (restored.output + restored.messages).contains("Verified: every cell matches the log."), "\(restored)")
        #expect(new.postmaster == nil)
        #expect(try new.trusted("psql", "--", "-XAtc", "SELECT count(*) FROM events") == "2\n")
        #expect(try new.trusted("app", "list").contains("shop"))
    }

    /// The block of the guide that has this line.
    static func block(with line: String) throws -> String {
        let blocks = try ProjectFolder.text(of: "Docs/Operations.md").components(separatedBy: "\n```")
        let block = try #require(blocks.first { $0.contains("\n\(line)") }, "\(line)")
        return block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().joined()
    }

    @Test("a database of one's own server goes by its dump to a new server, with its roles, and is proved there")
    func server() throws {
        let old = try TestPostgres.separate(settings: ServerOptions.throwawaySettings)
        defer { TestPostgres.remove(old) }
        let new = try TestPostgres.separate(settings: ServerOptions.throwawaySettings)
        defer { TestPostgres.remove(new) }
        var administrator = try Connection(url: old.connectionURL(database: "postgres"))
        try administrator.execute(script: "CREATE ROLE \(TestPostgres.owner) LOGIN CREATEROLE")
        try administrator.execute(script: "CREATE DATABASE shop OWNER \(TestPostgres.owner)")
        func urls(_ cluster: EmbeddedServer) -> String {
            """
            owner='\(cluster.connectionURL(database: "shop", user: TestPostgres.owner))'
            superuser='\(cluster.connectionURL(database: "postgres"))'
            """
        }
        let bellwether = Bellwether(database: old.connectionURL(database: "shop", user: TestPostgres.owner))
        _ = try bellwether.trusted("migrate")
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        #expect(try service.client().post(Wire.envelope(Wire.event(), Wire.event()), key: key).results.accepted == 2)
        #expect(try service.stop() == 0)

        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let script = """
            cd '\(scratch.path)'
            \(urls(old))
            \(try Self.block(with: "pg_dumpall"))
            \(urls(new))
            \(try Self.block(with: "psql --quiet --file=roles.sql"))
            """
        let restored = try ChildProcess.run(
            ["sh", "-euc", script],
            environment: ["PATH": (Bellwether.path as NSString).deletingLastPathComponent + ":" + path], within: 180)
        #expect(restored.status == 0, "\(restored)")
        #expect((restored.output + restored.messages).contains("Verified: every cell matches the log."), "\(restored)")
        var moved = try Connection(url: new.connectionURL(database: "shop", user: TestPostgres.owner))
        #expect(try moved.query("SELECT count(*) FROM analytics.events")[0].get(0, as: Int64.self) == 2)
    }

    @Test("a base backup goes back to a moment, whatever ALTER SYSTEM has said, and archives nothing over it")
    func moment() throws {
        var runner: [String] = []
        if geteuid() == 0 {
            let postgres = try #require(getpwnam("postgres")).pointee
            #expect(chown(scratch.path, postgres.pw_uid, postgres.pw_gid) == 0)
            runner = ["setpriv", "--reuid=\(postgres.pw_uid)", "--regid=\(postgres.pw_gid)", "--clear-groups", "--"]
        }
        let script = """
            set -eu
            cd '\(scratch.path)'
            mkdir archive backup
            \(try Self.block(with: "export PATH").split(separator: "\n")[0])
            initdb --auth=trust --pgdata=data >log
            cat >>data/postgresql.conf <<END
            listen_addresses = ''
            unix_socket_directories = '$PWD'
            \(try Self.block(with: "archive_mode = on"))
            END
            pg_ctl --pgdata=data --log=first --wait start >>log
            trap 'for each in data backup/base; do pg_ctl --pgdata=$each --mode=immediate stop || true; done >>log 2>&1' EXIT
            superuser="host=$PWD dbname=postgres"
            ask() { psql --no-psqlrc --quiet --tuples-only --no-align --command="$1" "$superuser"; }
            ask "ALTER SYSTEM SET archive_mode = on"
            ask "CREATE TABLE told (what text)"
            ask "INSERT INTO told VALUES ('before the backup')"
            \(try Self.block(with: "pg_basebackup --pgdata"))
            ask "INSERT INTO told VALUES ('before the moment')"
            moment=$(ask "SELECT clock_timestamp()")
            ask "INSERT INTO told VALUES ('after it')"
            ask "SELECT pg_switch_wal()" >>log
            pg_ctl --pgdata=data stop >>log
            ls archive >archived
            cat >>backup/base/postgresql.auto.conf <<END
            \(try Self.block(with: "archive_mode = off"))
            END
            touch backup/base/recovery.signal
            pg_ctl --pgdata=backup/base --log=second --wait start >>log
            until [ "$(ask 'SELECT pg_is_in_recovery()')" = f ]; do sleep 0.1; done
            ask "SELECT what FROM told"
            ask "INSERT INTO told VALUES ('and on')"
            ask "SELECT pg_switch_wal()" >>log
            pg_ctl --pgdata=backup/base stop >>log
            ls archive | diff archived - && echo 'nothing archived'
            """
            .replacing("/archive/", with: scratch("archive/")).replacing("/backup/base", with: scratch("backup/base"))
            .replacing(/recovery_target_time = .*/, with: "recovery_target_time = '$moment'")
        let ended = try ChildProcess.run(runner + ["bash", "-c", script], within: 120)
        #expect(
            ended.status == 0
                && ended.output
                    == "backup successfully verified\nbefore the backup\nbefore the moment\nnothing archived\n",
            "\(ended)")
    }
}
