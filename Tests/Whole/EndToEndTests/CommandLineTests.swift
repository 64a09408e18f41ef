import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("The command line")
struct CommandLineTests {
    private static let nowhere = Bellwether(database: "postgresql://somebody:geheim@127.0.0.1:1/none")

    /// As the overview has them, without their operands.
    static func commands() throws -> [[String]] {
        try nowhere.trusted("--help").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("  bellwether "), let end = line.dropFirst(2).firstRange(of: "  ") else { return nil }
            return line[..<end.lowerBound].split(separator: " ").dropFirst().map(String.init)
                .filter { word in word.allSatisfy { $0.isLowercase || $0 == "-" } }
        }
    }

    /// They have nothing to do with a database.
    private static let withoutDatabase = [
        ["event", "check"], ["restore"], ["completion"], ["man"], ["simulate"], ["demo"],
    ]

    @Test("every command explains itself, its options and their variables, on standard output")
    func help() throws {
        let commands = try Self.commands()
        #expect(commands.count >= 30)
        for words in commands {
            let child = try Self.nowhere.start(words + ["--help"]).wait()
            #expect(child.status == 0 && child.messages.isEmpty)
            #expect(child.output.contains("Use: bellwether \(words.joined(separator: " "))"))
            #expect(child.output.contains("--help"))
            #expect(
                child.output.contains("BELLWETHER_DATABASE_URL") != Self.withoutDatabase.contains(words), "\(words)")
        }
    }

    @Test("the overview names every command")
    func overview() throws {
        let overview = try Self.nowhere.trusted("--help")
        // A line each, and none so long that it wraps on a wide terminal.
        #expect(overview.split(separator: "\n").allSatisfy { $0.count <= 130 }, "\(overview)")
        #expect(try Self.nowhere.trusted("app", "--help").contains("app key revoke"))
        #expect(try Self.nowhere.trusted("help") == overview)
        #expect(try Self.nowhere.trusted("help", "app") == Self.nowhere.trusted("app", "--help"))
        let keys = try Self.nowhere.trusted("app", "key", "--help")
        #expect(keys.contains("app key revoke") && !keys.contains("app create"))
        for words in try Self.commands() {
            let (short, long) = try (Self.nowhere.start(["help"] + words), Self.nowhere.start(words + ["--help"]))
            #expect(try short.wait().output == long.wait().output)
        }
        #expect(try Self.nowhere.trusted("--version").hasPrefix("bellwether "))
    }

    @Test(
        "what makes no sense ends with 64 and a word of what would",
        arguments: [
            ([], "bellwether serve"), (["fly"], "no command 'fly'"), (["app"], "app create"),
            (["status", "--colour"], "no option --colour"), (["status", "--format"], "--format FORMAT"),
            (["status", "--format", "xml"], "text, json"), (["app", "create"], "app create SLUG"),
            (["app", "create", "a", "b"], "app create SLUG"), (["serve", "--writers", "0"], "1 to 16"),
            (["serve", "--listen", "nowhere"], "--listen"), (["serve", "--tls-key", "/k"], "--tls-key together"),
            (["serve", "--only", "report"], "ingest, project"), (["app", "set", "a"], "--time-zone"),
            (["serve", "--lanes", "17"], "1 to 16"), (["project"], "--once"), (["project", "--once", "now"], "use: "),
            (["project", "--once", "--lanes", "0"], "1 to 16"), (["projection"], "projection resume"),
            (["projection", "resume"], "NAME"), (["projection", "stop", "deliveries"], "projection resume"),
            (["rebuild", "--lanes", "many"], "1 to 16"), (["verify", "--format", "xml"], "text, json"),
            (["verify", "deliveries"], "use: "), (["retain"], "--days N"), (["retain", "--days", "0"], "1 to 36500"),
            (["retain", "--days", "-3"], "1 to 36500"), (["retain", "--days", "400", "--format", "csv"], "text, json"),
            (["erase"], "--app SLUG --install ID"), (["erase", "--app", "shop"], "--install ID"),
            (["erase", "--install", "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"], "--app SLUG"),
            (["erase", "--app", "shop", "--install", "8f2f6f0e"], "8-4-4-4-12"),
            (["app", "set", "a", "--rate-limit", "-1"], "--rate-limit"),
            (["app", "set", "a", "--rate-limit", "1e-300"], "0.000001"),
            (["app", "set", "a", "--rate-limit", "nan"], "0.000001"),
            (["app", "set", "a", "--rate-limit", "1e300"], "1000000000"),
            (["app", "set", "a", "--rate-limit", "1", "--rate-burst", "inf"], "--rate-burst"),
            (["rejected", "list", "--id", "x"], "--id"),
            (["rejected", "list", "--limit", "0"], "--limit"),
            (["rejected", "list", "--reason", "nonsense"], "not_an_object, too_large"),
            (["rejected", "replay", "--reason", "nonsense"], "not_an_object, too_large"),
            (["app", "set", "a", "--rate-limit", "none", "--rate-burst", "5"], "--rate-burst"),
            (["serve", "--cors-origin", "nonsense"], "https://app.example"),
            (
                [
                    "serve", "--cors-origin", "http://localhost:3000", "--cors-origin=*",
                    "--cors-origin=http://[::1]:80",
                    "--max-values", "0",
                ], "--max-values"
            ),
            (["serve", "--cors-origin", "https://app.example/"], "https://app.example"),
            (["serve", "--cors-origin", "*", "--cors-origin", "app.example:443"], "https://app.example"),
            (["app", "frob"], "no command 'app frob'. These exist: app create"),
            (["help", "nope"], "no command 'nope'"),
            (["nope", "--help"], "no command 'nope'"), (["app", "key", "frob", "--help"], "no command 'app key frob'"),
            (["help", "app", "frob"], "no command 'app frob'"), (["--frob"], "no command '--frob'"),
            (["status", "--format", "json", "--format=json"], "twice"),
            (["report", "--date", "2026-02-30"], "YYYY-MM-DD"), (["report", "--date", "tomorrow"], "YYYY-MM-DD"),
            (["report", "--format", "pdf"], "markdown"), (["report", "--as-of", "-1"], "position"),
            (["report", "--wait", "soon"], "90s"), (["report", "--all-apps"], "--output-dir"),
            (["report", "--output-dir", "/tmp"], "--all-apps"), (["report", "now"], "use: "),
            (["report", "--all-apps", "--app", "shop", "--output-dir", "/tmp"], "not both"),
            (["report", "--all-apps", "--output-dir", "/tmp", "--format", "html"], "--format"),
            (["report", "--all-apps", "--output-dir", "/tmp", "--as-of", "1"], "--as-of"),
            (["backup"], "backup DIR"), (["restore"], "restore DIR"), (["restore", "/b", "--until", "now"], "--until"),
            (["restore", "/b", "--until", "2026-11-21T18:05:17Z"], "--wal"), (["status", "--help=yes"], "switch"),
            (["database", "stop"], "embedded"), (["database", "upgrade"], "embedded"),
        ])
    func usage(_ words: [String], _ hint: String) throws {
        let ended = try Self.nowhere.start(words).wait()
        #expect(ended.status == 64 && ended.output.isEmpty)
        #expect(ended.messages.contains(hint), "\(ended.messages)")
    }

    @Test(
        "without a database every command that needs one ends with 69 and tells no password",
        arguments: [
            ["migrate"], ["app", "create", "shop"], ["app", "list"], ["app", "set", "shop", "--time-zone", "UTC"],
            ["status"], ["rejected", "replay"], ["project", "--once"], ["projection", "resume", "deliveries"],
            ["rebuild"], ["verify"], ["verify", "--sample"], ["report"], ["report", "--as-of", "1"],
            ["report", "--all-apps", "--output-dir", "/tmp/none"], ["retain", "--days", "400"],
            ["erase", "--app", "shop", "--install", "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"],
            ["categories", "import", "--app", "shop", "--preset", "hive"], ["categories", "list", "--app", "shop"],
            ["categories", "check", "--app", "shop"], ["psql"], ["backup", "/tmp/none"],
        ])
    func unavailable(_ words: [String]) throws {
        let ended = try Self.nowhere.start(words).wait()
        #expect(ended.status == 69 && ended.output.isEmpty)
        #expect(ended.messages.hasPrefix("bellwether: ") && !ended.messages.contains("geheim"), "\(ended.messages)")
    }

    @Test("what fails ends with 1 and says why")
    func failures() throws {
        let bellwether = try SharedService.get().bellwether
        #expect(try bellwether.run("app", "create", "twice").status == 0)
        for (words, hint) in [
            (["app", "create", "twice"], "twice"), (["app", "create", "No Slug"], "No Slug"),
            (["app", "create", "zone", "--time-zone", "Mars/Olympus"], "Mars/Olympus"),
            (["app", "set", "nobody", "--rate-limit", "5"], "nobody"), (["app", "key", "add", "nobody"], "nobody"),
            (["app", "key", "revoke", "twice", "gone"], "gone"),
            (["app", "create", "zone", "--time-zone", "localtime"], "IANA"),
            (["app", "set", "twice", "--time-zone", "posixrules"], "IANA"),
            (["app", "set", "twice", "--time-zone", "Factory"], "IANA"),
            (["rejected", "list", "--app", "nobody"], "no app 'nobody'"),
            (["rejected", "replay", "--app", "nobody"], "no app 'nobody'"),
            (["rejected", "list", "--id", "999999", "--id", "999998"], "the id 999998, 999999"),
            (["rejected", "replay", "--id", "999999"], "the id 999999"),
        ] {
            let ended = try bellwether.start(words).wait()
            #expect(ended.status == 1 && ended.output.isEmpty && ended.messages.contains(hint), "\(words) \(ended)")
        }
        // Nothing is half-made: the name is free.
        #expect(try bellwether.run("app", "create", "zone").status == 0)
    }

    @Test("output that does not arrive is a failure that says why; that its reader went away is none")
    func lostOutput() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        var full = try shared.bellwether
        full.runner = ["sh", "-c", "exec \"$@\" >/dev/full", "sh"]
        for words in [["--version"], ["status", "--help"], ["app", "list"], ["report", "--app", app.slug]] {
            let ended = try full.start(words).wait()
            #expect(ended.status == 1, "\(words)")
            #expect(
                ended.messages == "bellwether: could not write the output: No space left on device\n",
                "\(words) \(ended.messages)")
        }
        // A key that nobody saw is told of, with what to do.
        let unseen = try full.run("app", "create", "unseen")
        #expect(
            unseen.status == 1 && unseen.messages.contains("bellwether app key revoke unseen write")
                && unseen.messages.contains("bellwether app key add unseen\n"), "\(unseen)")
        let added = try full.run("app", "key", "add", "unseen", "--server", "--name", "two words")
        #expect(
            added.status == 1 && added.messages.contains("bellwether app key revoke unseen 'two words'")
                && added.messages.contains("bellwether app key add unseen --server\n"), "\(added)")
        // A code that says more stays.
        #expect(try full.run("fly").status == 64)
        let files = TemporaryDirectory()
        var unread = try shared.bellwether
        unread.runner = [
            "sh", "-c", "trap '' PIPE; mkfifo \"$0\"; exec 3<>\"$0\" >\"$0\" 3<&-; exec \"$@\"", files("pipe"),
        ]
        let ended = try unread.run("app", "list")
        #expect(ended.status == 0 && ended.messages.isEmpty, "\(ended)")
    }

    @Test("a URL comes by standard input too, and an empty one is a usage error")
    func standardInput() throws {
        let shared = try SharedService.get()
        let bellwether = Bellwether(database: nil)
        let url = try shared.database.url()
        #expect(try bellwether.trusted("status", "--database", "-", input: url + "\n").contains("head"))
        #expect(try bellwether.run("status", "--database", "-").status == 64)
    }

    @Test("a password of the URL stands in no command line, no output and no log")
    func passwords() throws {
        let shared = try SharedService.get()
        let url = try shared.database.url().replacing("bellwether_owner@", with: "bellwether_owner:geheim@")
        let bellwether = Bellwether(database: url)
        let service = try bellwether.serve("--log-level", "debug")
        defer { _ = try? service.stop() }
        let psql = try bellwether.start(["psql", "--", "-c", "SELECT pg_sleep(30)"])
        var family: [pid_t] = []
        let started = eventually {
            family = ProcessTable.family(of: psql.id)
            return family.contains { ProcessTable.commandLine(of: $0).contains("SELECT pg_sleep(30)") && $0 != psql.id }
        }
        #expect(started, "\(psql.messages)")
        for process in family + [service.process.id] {
            #expect(!ProcessTable.commandLine(of: process).joined().contains("geheim"))
        }
        for process in family.dropFirst() { kill(process, SIGTERM) }
        let ended = try psql.wait()
        #expect(!(ended.output + ended.messages + service.log).contains("geheim"))
        #expect(try !bellwether.trusted("status", "--format", "json").contains("geheim"))
        let broken = Bellwether(database: "postgresql://somebody:geheim@127.0.0.1:port/none")
        #expect(try !broken.run("status").messages.contains("geheim"))
    }

    @Test("psql passes on the words after -- and its exit code, and may read but not write")
    func psql() throws {
        let bellwether = try SharedService.get().bellwether
        #expect(try bellwether.trusted("psql", "--", "-XAtc", "SELECT current_user") == "bellwether_analyst\n")
        #expect(try bellwether.trusted("psql", "--", "-XAt", input: "SELECT 6 * 7;\n") == "42\n")
        let write = try bellwether.run("psql", "--", "-XAtc", "CREATE TABLE mine (a int)")
        #expect(write.status == 1 && write.messages.contains("read-only transaction"))
        // The connection goes in the middle.
        let cut = try bellwether.run(
            "psql", "--", "-Xqc", "SET ROLE bellwether_owner", "-c", "SELECT pg_terminate_backend(pg_backend_pid())")
        #expect(cut.status == 69, "\(cut)")
    }

    @Test("app list, status and rejected list speak JSON that says the same as their text")
    func formats() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        _ = try shared.post(#"{"events":["\u001b[31mred"]}"#, app).results
        let bellwether = try shared.bellwether
        let apps = try #require(json(try bellwether.trusted("app", "list", "--format", "json")) as? [[String: Any]])
        let mine = try #require(apps.first { $0["app"] as? String == app.slug })
        #expect(mine["time_zone"] as? String == "UTC" && mine["rate_limit"] is NSNull && mine["rate_burst"] is NSNull)
        #expect((mine["keys"] as? [[String: Any]])?.map { $0["name"] as? String } == ["write"])
        let text = try bellwether.trusted("app", "list")
        #expect(text.split(separator: "\n").contains { $0.hasPrefix(app.slug) && $0.contains("write") })
        _ = try bellwether.trusted("app", "set", app.slug, "--rate-limit", "10", "--rate-burst", "5")
        let limited = try bellwether.trusted("app", "list")
        #expect(limited.split(separator: "\n").contains { $0.hasPrefix(app.slug) && $0.contains("10.0/s, burst 5 ") })
        let limits = try bellwether.trusted("app", "list", "--format", "json")
        #expect(limits.contains(#""rate_limit":10.0,"rate_burst":5.0"#))
        let status = try #require(
            json(try bellwether.trusted("status", "--format", "json")) as? [String: Any])
        #expect((status["head"] as? Int).map { $0 > 0 } == true && status["partitions"] is [Any])
        let listed = try bellwether.trusted("rejected", "list", "--app", app.slug, "--format", "json")
        let rejection = try #require(json(listed) as? [String: Any])
        #expect(rejection["reason"] as? String == "not_an_object" && rejection["key"] as? String == "write")
        #expect(rejection["raw"] as? String == #""\u001b[31mred""#)
        let table = try bellwether.trusted("rejected", "list", "--app", app.slug, "--reason", "not_an_object")
        #expect(table.contains("not_an_object") && !table.contains("\u{1b}"))
        #expect(
            try bellwether.trusted("rejected", "list", "--app", app.slug, "--reason", "too_old").split(separator: "\n")
                .count == 1)
    }

    private func json(_ text: String) -> Any? { try? JSONSerialization.jsonObject(with: Data(text.utf8)) }
}
