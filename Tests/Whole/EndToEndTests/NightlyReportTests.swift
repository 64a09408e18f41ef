import EventLog
import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("The nightly reports, and reports as files")
struct NightlyReportTests {
    private static let day = "2026-11-20"
    private static let endings = ["csv", "html", "json", "md", "txt"]

    /// A database with these apps, each with a few deliveries on the day, and level funnels.
    private func filled(_ slugs: String...) throws -> (TestDatabase, Bellwether) {
        let database = try TestDatabase.make()
        for slug in slugs {
            let app = try database.makeApp(slug)
            _ = try database.appender().append([app.submission([.sample(), .sample()])])
        }
        let bellwether = try Bellwether(database)
        _ = try bellwether.trusted("project", "--once")
        return (database, bellwether)
    }

    private func files(in directory: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            // Nil for a directory.
            files[name] = FileManager.default.contents(atPath: directory + "/" + name)
        }
        return files
    }

    @Test("every app in every format, a line for each on standard error, and the same files when it is run again")
    func nightly() throws {
        let (database, bellwether) = try filled("chat", "shop_2-a")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        let target = directory("reports/of/all")
        func run() throws -> [String: Data] {
            let ended = try bellwether.run("report", "--all-apps", "--date", Self.day, "--output-dir", target)
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            let lines = ended.messages.split(separator: "\n")
            #expect(lines.count == 2 && lines[0].hasPrefix("chat: 2 deliveries of \(Self.day) at position 2, in "))
            return try files(in: target)
        }
        let (first, second) = (try run(), try run())
        let names = ["chat", "shop_2-a"].flatMap { app in Self.endings.map { "\(app)/\(Self.day).\($0)" } }
        #expect(first.keys.sorted() == names.sorted() && first.values.allSatisfy { !$0.isEmpty })
        #expect(first == second)
        let printed = try bellwether.trusted("report", "--app", "chat", "--date", Self.day, "--as-of", "2")
        #expect(first["chat/\(Self.day).txt"] == Data(printed.utf8))
    }

    @Test("what fails with one app is told and does not stop the others")
    func oneFails() throws {
        let (database, bellwether) = try filled("apples", "books", "cars")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        try "in the way".write(toFile: directory("books"), atomically: false, encoding: .utf8)
        let ended = try bellwether.run("report", "--all-apps", "--date", Self.day, "--output-dir", directory.path)
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(
            ended.messages.contains("bellwether: books: cannot create '\(directory("books"))'"), "\(ended.messages)")
        let written = try files(in: directory.path)
        let names = ["apples", "cars"].flatMap { app in Self.endings.map { "\(app)/\(Self.day).\($0)" } }
        #expect(written.keys.sorted() == (names + ["books"]).sorted())
        #expect(written["books"] == Data("in the way".utf8))
    }

    @Test("a report that ends its process does not end the night: it is named, and the others are written")
    func oneTraps() throws {
        let (database, bellwether) = try filled("apples", "books", "cars")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        let night = try bellwether.stopping(at: "reporting").start([
            "report", "--all-apps", "--date", Self.day, "--output-dir", directory.path,
        ])
        // Each report stops before it is made; that of one app meets a fault there, as nobody knows of any.
        for app in ["apples", "books", "cars"] {
            var child: pid_t?
            let isThere = eventually {
                child = ProcessTable.family(of: night.id).first {
                    ProcessTable.commandLine(of: $0).contains(app) && ProcessTable.isStopped($0)
                }
                return child != nil
            }
            #expect(isThere, "\(night.messages)")
            kill(try #require(child), app == "books" ? SIGKILL : SIGCONT)
        }
        let ended = try night.wait()
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(
            ended.messages.contains("bellwether: books: its report was ended by signal SIGKILL"), "\(ended.messages)")
        let names = ["apples", "cars"].flatMap { app in Self.endings.map { "\(app)/\(Self.day).\($0)" } }
        #expect(try files(in: directory.path).keys.filter { $0.contains(".") }.sorted() == names.sorted())
    }

    @Test("a day that has not begun is a usage error, and in the nightly run told of the apps for which it has not")
    func notBegun() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        // Where it is never the same day.
        _ = try database.makeApp("east", timeZone: "Pacific/Kiritimati")
        _ = try database.makeApp("west", timeZone: "Pacific/Pago_Pago")
        let today: String = try database.value("SELECT (now() AT TIME ZONE 'Pacific/Kiritimati')::date::text")
        let bellwether = try Bellwether(database)
        for words in [["--app", "west"], []] {
            let refused = try bellwether.start(["report", "--date", today] + words).wait()
            #expect(refused.status == 64 && refused.output.isEmpty)
            #expect(refused.messages.contains("has not begun in Pacific/Pago_Pago"), "\(refused.messages)")
        }
        #expect(try bellwether.run("report", "--date", today, "--app", "east").status == 0)
        let directory = TemporaryDirectory()
        let nightly = try bellwether.run("report", "--all-apps", "--date", today, "--output-dir", directory.path)
        #expect(nightly.status == 1 && nightly.messages.contains("bellwether: west: "), "\(nightly.messages)")
        #expect(try files(in: directory.path).keys.sorted() == Self.endings.map { "east/\(today).\($0)" })
    }

    @Test("funnels that are behind are told of each app, without waiting for each anew, and nothing is written")
    func notReady() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let app = try database.makeApp("late")
        _ = try database.appender().append([app.submission([.sample()])])
        let directory = TemporaryDirectory()
        let behind = try bellwether.run(
            "report", "--all-apps", "--date", "today", "--output-dir", directory.path, "--wait", "1s")
        #expect(behind.status == 1 && behind.messages.split(separator: "\n").count == 3, "\(behind.messages)")
        #expect(behind.messages.hasPrefix("Waiting up to 1 s: "), "\(behind.messages)")
        #expect(try files(in: directory.path).isEmpty)
    }

    @Test("without an app there is nothing to write, and that is no failure")
    func noApp() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let directory = TemporaryDirectory()
        let ended = try Bellwether(database).run("report", "--all-apps", "--output-dir", directory("x"))
        #expect(
            ended.status == 0 && ended.messages == "There is no app yet. To create one: bellwether app create SLUG\n",
            "\(ended)")
    }

    @Test("a file is written whole, through a link too, and standard output stays empty")
    func output() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        let path = directory("report.html")
        try "yesterday's".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: directory("latest.html"), withDestinationPath: "report.html")
        let ended = try bellwether.run(
            "report", "--date", Self.day, "--format", "html", "--output", directory("latest.html"))
        #expect(ended.status == 0 && ended.output.isEmpty && ended.messages.isEmpty, "\(ended)")
        let printed = try bellwether.trusted("report", "--date", Self.day, "--format", "html", "--as-of", "1")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == printed)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directory("latest.html")) == "report.html")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == [
                "latest.html", "report.html",
            ])
    }

    @Test("- is standard output, and no file")
    func standardOutput() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        var inside = bellwether
        inside.runner = ["env", "--chdir=\(directory.path)"]
        let ended = try inside.run("report", "--date", Self.day, "--output", "-")
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
        #expect(ended.output == (try bellwether.trusted("report", "--date", Self.day, "--as-of", "1")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test("what is no file is not replaced by one, and a place that is not there is told")
    func outputRefused() throws {
        let (database, bellwether) = try filled("shop")
        defer { database.drop() }
        let directory = TemporaryDirectory()
        for path in [directory.path, "/dev/null", directory("none/report.txt")] {
            let ended = try bellwether.run("report", "--date", Self.day, "--output", path)
            #expect(ended.status == 1 && ended.output.isEmpty && ended.messages.contains("'\(path)'"), "\(ended)")
        }
        var status = stat()
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }
}
