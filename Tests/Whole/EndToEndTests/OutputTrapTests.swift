import EventLog
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Traps on the way to a file", .enabled(if: geteuid() == 0, "only root can be caught"))
struct OutputTrapTests {
    private static let day = "2026-11-20"

    @Test("root writes into no directory of another, and by no link, what belongs elsewhere")
    func outputs() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        _ = try database.appender().append([app.submission([.sample()])])
        let bellwether = try Bellwether(database)
        _ = try bellwether.trusted("project", "--once")
        let scratch = TemporaryDirectory()
        let victim = scratch("victim")
        try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
        let nobody = getpwnam("nobody").pointee.pw_uid

        func expectRefused(_ words: String..., because reason: String) throws {
            let ended = try bellwether.run(words[0], words[1], words[2], words[3], words[4], words[5])
            #expect(ended.status == 1 && ended.messages.contains(reason), "\(words): \(ended)")
            #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        }
        // Of another, or open to everybody.
        for (name, owner, mode) in [("theirs", nobody, 0o755), ("open", 0, 0o777)] as [(String, uid_t, mode_t)] {
            let place = scratch(name)
            mkdir(place, 0o700)
            chown(place, owner, 0)
            chmod(place, mode)
            let reason = owner == 0 ? "anybody may write to" : "belongs to user nobody"
            symlink(victim, place + "/report.txt")
            try expectRefused(
                "report", "--date", Self.day, "--app", "shop", "--output=\(place)/report.txt", because: "link")
            try expectRefused(
                "report", "--date", Self.day, "--app", "shop", "--output=\(place)/new.txt", because: reason)
            try expectRefused("report", "--date", Self.day, "--all-apps", "--output-dir", place, because: reason)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place) == ["report.txt"])
        }
        // In a directory of root's own, planted before it was his, or as in /tmp.
        let reports = scratch("reports")
        mkdir(reports, 0o755)
        symlink(scratch.path, reports + "/shop")
        try expectRefused("report", "--date", Self.day, "--all-apps", "--output-dir", reports, because: "is a link")
        let sticky = scratch("sticky")
        mkdir(sticky, 0o755)
        chmod(sticky, 0o1777)
        symlink(victim, sticky + "/report.txt")
        lchown(sticky + "/report.txt", nobody, gid_t.max)
        try expectRefused(
            "report", "--date", Self.day, "--app", "shop", "--output=\(sticky)/report.txt",
            because: "is a link that another user")
        #expect(
            try bellwether.run("report", "--date", Self.day, "--app", "shop", "--output", sticky + "/mine.txt").status
                == 0)
    }
}
