import EmbeddedPostgres
import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

@Suite("What Docs/Operations.md says to do, done")
struct OperationsGuideTests {
    private let scratch = TemporaryDirectory()

    @Test("a standby is made, follows, and takes over")
    func standby() throws {
        var runner: [String] = []
        if geteuid() == 0 {
            let postgres = try #require(getpwnam("postgres")).pointee
            #expect(chown(scratch.path, postgres.pw_uid, postgres.pw_gid) == 0)
            runner = ["setpriv", "--reuid=\(postgres.pw_uid)", "--regid=\(postgres.pw_gid)", "--clear-groups", "--"]
        }
        let copying = try BackupGuideTests.block(with: "pg_basebackup --dbname='postgresql://standby@")
        #expect(copying.contains("@db1.internal/?") && copying.contains("/var/lib/postgresql/15/main"))
        let script = """
            set -eu
            cd '\(scratch.path)'
            \(try BackupGuideTests.block(with: "export PATH").split(separator: "\n")[0])
            initdb --auth=trust --pgdata=data >log
            echo "listen_addresses = ''" >>data/postgresql.conf
            run() { pg_ctl --pgdata=$1 --log=$1.log --options="-p $2 -c unix_socket_directories='$PWD'" --wait start >>log; }
            trap 'for each in data standby; do pg_ctl --pgdata=$each --mode=immediate stop || true; done >>log 2>&1' EXIT
            ask() { psql --no-psqlrc --quiet --tuples-only --no-align --command="$2" "host=$PWD port=$1 dbname=postgres"; }
            until_true() { until [ "$(ask "$1" "$2")" = t ]; do sleep 0.1; done; }
            run data 5432
            psql --no-psqlrc --quiet "host=$PWD dbname=postgres" >>log <<'END'
            \(try BackupGuideTests.block(with: "CREATE ROLE standby"))
            END
            \(copying)
            run standby 5433
            until_true 5432 "SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = 'db2'"
            ask 5432 "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'"
            ask 5432 "SELECT pg_reload_conf()" >>log
            ask 5432 "CREATE TABLE told AS SELECT 'followed' AS what"
            until_true 5433 "SELECT to_regclass('told') IS NOT NULL"
            pg_ctl --pgdata=data --mode=immediate stop >>log
            pg_ctl --pgdata=standby promote >>log
            ask 5433 "ALTER SYSTEM RESET synchronous_standby_names"
            ask 5433 "SELECT pg_reload_conf()" >>log
            ask 5433 "SELECT what FROM told"
            """
            .replacing("@db1.internal/?", with: "@/?host=\(scratch.path)&")
            .replacing("/var/lib/postgresql/15/main", with: scratch("standby"))
        let ended = try ChildProcess.run(runner + ["bash", "-c", script], within: 120)
        #expect(ended.status == 0 && ended.output == "followed\n", "\(ended)")
    }

    @Test("the embedded server gets a setting that takes a restart")
    func restart() throws {
        let bellwether = Bellwether(data: scratch("data"))
        defer { _ = try? bellwether.run("database", "stop", "--force") }
        _ = try bellwether.trusted("database-url")
        let service = try bellwether.serve()
        let settings = "archive_mode = on\narchive_command = 'true'\n"
        try settings.write(toFile: scratch("data/pg/data/custom.conf"), atomically: false, encoding: .utf8)
        #expect(try BackupGuideTests.block(with: "bellwether database stop").hasPrefix("bellwether database stop "))
        #expect(try service.stop() == 0)
        for _ in 0..<2 { _ = try bellwether.trusted("database", "stop") }
        let again = try bellwether.serve()
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SHOW archive_mode") == "on\n")
        #expect(try again.stop() == 0)
    }

    @Test("each layout of the units is installed by a block of its own, which enables what it installs")
    func units() throws {
        for layout in ["embedded", "own-database"] {
            let line = "install -m 644 Examples/systemd/*.timer Examples/systemd/\(layout)/*.service"
            let blocks = try ProjectFolder.text(of: "Docs/Operations.md").components(separatedBy: "```")
            let block = try #require(blocks.first { $0.contains("\(line) ") }, "\(layout)")
            let files = try FileManager.default.contentsOfDirectory(
                atPath: "\(ProjectFolder.path)/Examples/systemd/\(layout)")
            let services = Set(files.map { $0.replacing(".service", with: "") })
            let enabled = block.matches(of: /enable --now ([^#\n]+)/).flatMap { $0.1.split(separator: " ") }
                .map { String($0).replacing(".timer", with: "") }
            #expect(Set(enabled) == services, "\(layout)")
        }
    }
}
