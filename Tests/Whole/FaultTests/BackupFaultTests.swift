import EmbeddedPostgres
import Foundation
import Postgres
import ProjectFolder
import ServiceRuntime
import TestSupport
import Testing

@Suite(
    "A backup, and what is restored of it", .enabled(if: BackupPrograms.run, "pg_verifybackup does not run here")
)
struct BackupFaultTests {
    private let scratch = TemporaryDirectory()

    /// An embedded database whose log is archived, as Docs/Operations.md says.
    private func archivingShop() throws -> EmbeddedShop {
        let shop = try EmbeddedShop()
        try FileManager.default.createDirectory(atPath: scratch("archive"), withIntermediateDirectories: false)
        let settings = try #require(shop.bellwether.data) + "/pg/data/custom.conf"
        var owner = stat()
        #expect(stat(settings, &owner) == 0)
        chown(scratch("archive"), owner.st_uid, owner.st_gid)
        let guide = try ProjectFolder.text(of: "Docs/Operations.md")
        let block = try #require(guide.components(separatedBy: "```\n").first { $0.hasPrefix("archive_mode = on") })
        let file = try #require(FileHandle(forWritingAtPath: settings))
        try file.seekToEnd()
        try file.write(contentsOf: Data(block.replacing("/archive/", with: scratch("archive/")).utf8))
        try file.close()
        return shop
    }

    /// How often each event is stored. The database stops afterwards.
    private func stored(in bellwether: Bellwether) throws -> [String: Int] {
        let rows = try bellwether.trusted(
            "psql", "--", "-XAtc", "SELECT event_id, count(*) FROM analytics.events GROUP BY event_id")
        var counts: [String: Int] = [:]
        for row in rows.split(separator: "\n") {
            let parts = row.split(separator: "|")
            counts[String(parts[0])] = Int(parts[1])
        }
        return counts
    }

    private func restore(_ name: String, _ more: String...) throws -> (Bellwether, ChildProcess.Ended) {
        let restored = Bellwether(data: scratch(name))
        let words = ["restore", scratch("backup"), "--data", scratch(name), "--verify"] + more
        return (restored, try Bellwether(database: nil).start(words).wait())
    }

    /// Makes what was written so far a file of the archive.
    private func archive(_ bellwether: Bellwether) throws {
        var superuser = try Connection(url: try #require(bellwether.superuserURL))
        superuser.deadline = .after(seconds: 60)
        let file: String = try superuser.query("SELECT pg_walfile_name(pg_switch_wal())")[0].get(0)
        let isThere = eventually { FileManager.default.fileExists(atPath: scratch("archive/") + file) }
        #expect(isThere)
    }

    @Test("taken under load it has all that was acknowledged before; the archive has the rest, up to any moment")
    func moments() throws {
        let shop = try archivingShop()
        let service = try shop.bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())
        let beforeBackup = load.acknowledged
        let backup = try shop.bellwether.run("backup", scratch("backup"))
        #expect(backup.status == 0 && backup.output.contains("everything up to batch"), "\(backup)")
        #expect(load.isServed())
        let beforeMoment = load.acknowledged
        var superuser = try Connection(url: try #require(shop.bellwether.superuserURL))
        let moment: String = try superuser.query(
            #"SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#)[0].get(0)
        let sentByThen = Set(load.sent.flatMap(\.ids))
        #expect(load.isServed())
        load.stop()
        try archive(shop.bellwether)
        #expect(try service.stop() == 0)

        // The backup alone, which `beneath` tries too.
        if FaultLength.isLong {
            let (alone, ended) = try restore("alone")
            #expect(ended.status == 0 && ended.output.contains("every cell matches"), "\(ended)")
            let inBackup = try stored(in: alone)
            #expect(beforeBackup.isSubset(of: inBackup.keys) && inBackup.values.allSatisfy { $0 == 1 })
        }

        // Up to the moment: nothing that came later.
        let (then, thenEnded) = try restore("then", "--wal", scratch("archive"), "--until", moment)
        #expect(thenEnded.status == 0 && thenEnded.output.contains("every cell matches"), "\(thenEnded)")
        #expect(thenEnded.output.contains(/The funnels are at batch \d+ or later/))
        let until = try stored(in: then)
        #expect(beforeMoment.isSubset(of: until.keys) && until.values.allSatisfy { $0 == 1 })
        #expect(sentByThen.isSuperset(of: until.keys))

        // The newest file, as `pg_receivewal` leaves it.
        let newest = try #require(
            FileManager.default.contentsOfDirectory(atPath: scratch("archive")).filter { $0.count == 24 }.max())
        #expect(rename(scratch("archive/") + newest, scratch("archive/\(newest).partial")) == 0)
        // What phones still have is stored again, and nothing twice; on the whole archive nothing is missing at all.
        let (all, allEnded) = try restore("all", "--wal", scratch("archive"))
        #expect(allEnded.status == 0 && allEnded.output.contains("every cell matches"), "\(allEnded)")
        for (restored, isWhole) in [(then, false), (all, true)] {
            let next = try restored.serve()
            load.turn(to: next)
            if isWhole {
                try Laws.check(load, url: try #require(restored.url))
            } else {
                #expect(try load.sendAllAgain().isEmpty)
                let mended = try stored(in: restored)
                #expect(Set(mended.keys) == Set(load.sent.flatMap(\.ids)) && mended.values.allSatisfy { $0 == 1 })
                try Laws.checkFunnels(url: try #require(restored.url))
            }
            #expect(try next.stop() == 0)
        }
    }

    @Test(
        "a damaged backup, an unfinished one, an archive with a gap and a moment out of reach are told, not passed over"
    )
    func faults() throws {
        let shop = try archivingShop()
        let service = try shop.bellwether.serve()
        #expect(try shop.bellwether.run("backup", scratch("backup")).status == 0)
        let again = try shop.bellwether.run("backup", scratch("backup"))
        #expect(again.status == 1 && again.messages.contains("is not empty"), "\(again)")
        for _ in 0..<3 {
            #expect(try service.client().post(Wire.envelope(Wire.event()), key: shop.key).results.accepted == 1)
            try archive(shop.bellwether)
        }
        #expect(try service.stop() == 0)

        let early = try restore("early", "--wal", scratch("archive"), "--until", "2026-01-01T00:00:00Z").1
        #expect(early.status == 1 && early.messages.contains("restore an older one"), "\(early)")
        let late = try restore("late", "--wal", scratch("archive"), "--until", "2199-01-01T00:00:00Z").1
        #expect(late.status == 1 && late.messages.contains("ends before the moment"), "\(late)")
        // What is left is no database, and says so.
        let use = try Bellwether(data: scratch("late")).run("status")
        #expect(use.status == 69 && use.messages.contains("remove the directory and restore again"), "\(use)")
        let occupied = try restore("late").1
        #expect(occupied.status == 1 && occupied.messages.contains("is not empty"), "\(occupied)")

        // The newest file but one.
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch("archive")).filter { $0.count == 24 }
        let lost = try #require(files.sorted().suffix(2).first)
        try FileManager.default.removeItem(atPath: scratch("archive/") + lost)
        let gap = try restore("gap", "--wal", scratch("archive")).1
        #expect(gap.status == 1 && gap.messages.contains("\(lost) is missing or damaged"), "\(gap)")
        #expect(gap.output.contains("every cell matches"), "\(gap)")

        // One byte of a table.
        let tables = try FileManager.default.subpathsOfDirectory(atPath: scratch("backup/data/base"))
        let table = try #require(tables.first { $0.hasSuffix("/1255") })
        let file = try #require(FileHandle(forUpdatingAtPath: scratch("backup/data/base/") + table))
        try file.seek(toOffset: 5000)
        try file.write(contentsOf: Data([0x42]))
        try file.close()
        let damaged = try restore("damaged").1
        #expect(damaged.status == 1 && damaged.messages.contains("damaged or could not be copied"), "\(damaged)")
        try FileManager.default.removeItem(atPath: scratch("backup/backup.txt"))
        let unfinished = try restore("unfinished").1
        #expect(unfinished.status == 1 && unfinished.messages.contains("no finished backup"), "\(unfinished)")
    }

    @Test("a server goes back to an earlier moment beneath a running service, which keeps nothing of what is gone")
    func beneath() throws {
        let server = try DatabaseServer()
        let bellwether = Bellwether(database: server.url)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let refused = try bellwether.run("backup", scratch("backup"))
        #expect(refused.status == 1 && refused.messages.contains("REPLICATION"), "\(refused)")
        var administrator = try server.administrator()
        try administrator.execute(script: "ALTER ROLE \(TestPostgres.owner) REPLICATION")
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed())
        let beforeBackup = load.acknowledged
        let backup = try bellwether.run("backup", scratch("backup"))
        #expect(backup.status == 0, "\(backup)")

        // Words, devices and contexts that the backup does not know.
        func event(_ id: String, _ category: String) -> String {
            Wire.event(id: id, notification: #"{"id":"n","category":"\#(category)","thread":"\#(category)"}"#)
        }
        func post(_ id: String, _ category: String) throws -> Bool {
            try service.client().post(Wire.envelope(event(id, category)), key: key).status == 200
        }
        for category in ["LATE", "LATER"] { #expect(try post(Wire.id(), category)) }
        #expect(load.isServed())

        try server.stop()
        let words = ["restore", scratch("backup"), "--data", scratch("restored"), "--verify"]
        let restored = try Bellwether(database: nil).start(words).wait()
        #expect(restored.status == 0 && restored.output.contains("every cell matches"), "\(restored)")
        #expect(restored.output.contains("It is the database \(DatabaseServer.database)"), "\(restored)")
        try FileManager.default.removeItem(atPath: server.directory)
        #expect(try ChildProcess.run(["mv", scratch("restored/pg/data"), server.directory]).status == 0)
        try server.start()

        // The ids of the lost words are given to others, by this service and by another one.
        let other = try bellwether.serve()
        let ids = (Wire.id(), Wire.id(), Wire.id())
        #expect(
            try other.client().post(Wire.envelope(event(ids.0, "NEW")), key: key).results.accepted == 1)
        #expect(eventually { (try? post(ids.1, "LATE")) == true })
        #expect(eventually { (try? post(ids.2, "NEWER")) == true })
        #expect(load.isServed())
        load.stop()
        // Each writer finds its way back by itself.
        #expect(eventually { (try? load.sendAllAgain().isEmpty) == true })
        let names = try bellwether.trusted(
            "psql", "--", "-XAtF ", "-c",
            "SELECT category, thread FROM analytics.events WHERE category LIKE '%E%' ORDER BY category")
        #expect(names == "LATE LATE\nNEW NEW\nNEWER NEWER\n")
        let counts = try stored(in: bellwether)
        #expect(beforeBackup.isSubset(of: counts.keys) && counts.values.allSatisfy { $0 == 1 })
        #expect(Set(load.sent.flatMap(\.ids)).isSubset(of: counts.keys))
        try Laws.checkFunnels(url: server.url)
        for service in [service, other] { #expect(try service.stop() == 0) }
    }
}

private enum BackupPrograms {
    /// Whether they run: the `pg_verifybackup` of version 18 in the package of `make test-postgres` crashes before it
    /// begins.
    static let run: Bool = {
        let programs = try? PostgresInstallation.all(deadline: .after(seconds: 60)).first
        let ended = try? ChildProcess.run([programs?.program("pg_verifybackup") ?? "false", "--version"])
        return ended?.status == 0
    }()
}
