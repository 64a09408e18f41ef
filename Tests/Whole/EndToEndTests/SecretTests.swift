import Foundation
import Postgres
import TestSupport
import Testing

/// Passwords and keys with a word in them that stands nowhere else, and then all that can be read from outside.
@Suite("Keys and passwords stay where they belong") struct SecretTests {
    /// Pieces of every password here, whatever it is a part of.
    private static let pieces = ["sesame", "Gu4rd", "p?a:ss", "wr0ng"]

    private static func expectNone(
        of secrets: [String], in text: String, _ where: String, _ location: SourceLocation = #_sourceLocation
    ) {
        for secret in secrets where text.contains(secret) {
            let line = text.split(separator: "\n").first { $0.contains(secret) } ?? ""
            Issue.record("\(`where`) has \(secret): \(line.prefix(300))", sourceLocation: location)
        }
    }

    private func run(
        _ words: [String], _ environment: [String: String], input: String = ""
    ) throws -> ChildProcess.Ended {
        try ChildProcess.run([Bellwether.path] + words, environment: environment, input: input)
    }

    @Test("however the password is given, nothing that the service and the commands write or show has it, nor a key")
    func passwords() throws {
        let guarded = try GuardedDatabase()
        let files = TemporaryDirectory()
        let escaped = GuardedDatabase.password.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        try "*:*:*:*:\(escaped)\n".write(toFile: files("pass"), atomically: false, encoding: .utf8)
        chmod(files("pass"), 0o600)
        let ways = guarded.ways(in: files("pass"))

        #expect(try run(["migrate"], ways[0]).status == 0)
        let made = try run(["app", "create", "shop"], ways[1])
        let writeKey = String(made.output.dropLast())
        let serverKey = String(try run(["app", "key", "add", "shop", "--server"], ways[2]).output.dropLast())
        #expect(writeKey.hasPrefix("bww_") && serverKey.hasPrefix("bws_"), "\(made)")
        let secrets =
            Self.pieces + [writeKey, serverKey, String(writeKey.dropFirst(4)), String(serverKey.dropFirst(4))]

        for (number, way) in ways.enumerated() {
            let service = try RunningService.start(way, "--log-level", "debug")
            defer { _ = try? service.stop() }
            let told = try speak(to: service, writeKey: writeKey, serverKey: serverKey)
            Self.expectNone(of: secrets, in: told, "an answer")
            Self.expectNone(of: secrets, in: try service.client().get("/metrics").body, "/metrics")
            for process in ProcessTable.family(of: service.process.id) {
                let line = ProcessTable.commandLine(of: process).joined(separator: " ")
                #expect(line.contains("bellwether"))
                Self.expectNone(of: secrets, in: line, "the list of processes")
            }
            try expectNothingInSessions(of: guarded, secrets: secrets)
            for words in [
                ["app", "list"], ["app", "list", "--format", "json"],
                ["app", "set", "shop", "--time-zone", "Mars/Olympus"],
                ["status"], ["status", "--format", "json"], ["project", "--once"], ["verify"], ["rejected", "list"],
                ["app", "key", "revoke", "shop", "nobody"], ["psql", "--", "-XAtc", "SELECT app FROM apps"],
                ["psql", "--", "-XAtc", "SELECT nonsense"], ["psql", "--", "-XAtc", #"\conninfo"#],
            ] {
                let ended = try run(words, way)
                #expect([0, 1].contains(ended.status), "\(words): \(ended)")
                Self.expectNone(of: secrets, in: ended.output + ended.messages, "\(words)")
            }
            // Once it ends as a crash does. The first such signal may be met by a handler, which writes what it finds
            // and goes on: it is not disturbed, and the next signal ends the service.
            if number == 0 {
                service.process.signal(SIGABRT)
                _ = eventually { !service.process.isRunning || service.log.contains("Backtrace took") }
                let isOver = eventually {
                    service.process.signal(SIGABRT)
                    return !service.process.isRunning
                }
                #expect(isOver)
            } else {
                #expect(try service.stop() == 0)
            }
            Self.expectNone(of: secrets, in: service.process.output + service.log, "the service's log")
        }
        // The server was asked to write down everything; that it did shows in this.
        #expect(guarded.log.contains("log.api_key") && guarded.log.contains("connection authorized"))
        Self.expectNone(of: secrets, in: guarded.log, "PostgreSQL's log")
    }

    @Test(
        "a wrong password, a host that is not there and a URL that is none are told without it, by service and commands"
    )
    func failures() throws {
        let guarded = try GuardedDatabase()
        let files = TemporaryDirectory()
        try "*:*:*:*:sesame-wr0ng\n".write(toFile: files("pass"), atomically: false, encoding: .utf8)
        chmod(files("pass"), 0o600)
        let wrong = guarded.ways(password: "sesame-wr0ng", in: files("pass"))
        let nowhere = [
            "postgresql://user:sesame-wr0ng@127.0.0.1:1/none", "host=127.0.0.1 port=1 user=u password=sesame-wr0ng",
            "postgresql://user:sesame/wr0ng@127.0.0.1:1/none", "postgresql://user:sesame@wr0ng@127.0.0.1:1/none",
            "posgresql://user:sesame-wr0ng@127.0.0.1:1/none", "postgresql://user:sesame%wr0ng@127.0.0.1:1/none",
            "host=127.0.0.1;port=1;password=sesame-wr0ng",
        ].map { ["BELLWETHER_DATABASE_URL": $0, "PGHOST": guarded.socketDirectory, "PGUSER": "bellwether_owner"] }
        for environment in wrong + nowhere {
            for words in [
                ["migrate"], ["status"], ["report", "--all-apps", "--output-dir", files("reports")],
                ["psql", "--", "-c", "x"],
            ] {
                let ended = try run(words, environment)
                #expect(ended.status == (words == ["psql", "--", "-c", "x"] ? ended.status : 69), "\(words) \(ended)")
                #expect(ended.status != 0 && !ended.messages.isEmpty)
                Self.expectNone(of: Self.pieces, in: ended.output + ended.messages, "\(words)")
            }
        }
        for environment in [wrong[0], wrong[3], nowhere[0], nowhere[2], nowhere[6]] {
            let service = try RunningService.start(environment, "--log-level", "debug", waitsUntilReady: false)
            let isTold = eventually { service.log.contains("the database cannot be reached") }
            #expect(isTold, "\(service.log)")
            let client = service.client()
            for path in ["/readyz", "/metrics"] {
                Self.expectNone(of: Self.pieces, in: try client.get(path).body, path)
            }
            let answer = try client.post(Wire.envelope(Wire.event()), key: "bww_sesame")
            #expect(answer.status == 503)
            Self.expectNone(of: Self.pieces, in: answer.body, "an answer")
            #expect(try service.stop() == 0)
            Self.expectNone(of: Self.pieces, in: service.log, "the service's log")
        }
        #expect(guarded.log.contains("password authentication failed"))
        Self.expectNone(of: Self.pieces, in: guarded.log, "PostgreSQL's log")
    }

    @Test("the simulator, refused or alone, tells no key that it was given by the environment")
    func simulator() throws {
        let shared = try SharedService.get()
        for url in ["http://127.0.0.1:1", "http://127.0.0.1:\(shared.service.port)", "nonsense://127.0.0.1"] {
            let ended = try run(
                ["simulate", "--url", url, "--seconds", "1"],
                ["BELLWETHER_WRITE_KEY": "bww_sesame", "BELLWETHER_SERVER_KEY": "bws_sesame"])
            #expect(ended.status == 1 && !ended.messages.isEmpty, "\(ended)")
            Self.expectNone(of: Self.pieces, in: ended.output + ended.messages, "simulate")
        }
        Self.expectNone(of: Self.pieces, in: shared.service.log, "the service's log")
    }

    @Test("whatever a command is told in confidence it takes from the environment or a file too, and its help says how")
    func help() throws {
        let overview = try Bellwether(database: nil).trusted("--help")
        let commands = overview.split(separator: "\n").filter { $0.hasPrefix("  bellwether ") }.map { line in
            line.split(separator: " ").dropFirst().prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }.map(
                String.init)
        }
        #expect(commands.count > 25)
        var confidential: Set<String> = []
        for words in commands {
            // The words of a summary are read along: only those that call the command count.
            let name = (1...words.count).reversed().lazy.map { Array(words.prefix($0)) }.first { words in
                let help = try? self.run(words + ["--help"], [:])
                return help?.output.contains("Use: bellwether \(words.joined(separator: " "))") == true
            }
            let help = try run(try #require(name) + ["--help"], [:]).output
            for line in help.split(separator: "\n") {
                guard let option = line.firstMatch(of: /^  --([a-z-]+) ([A-Z]+)/) else { continue }
                let secret = ["database", "write-key", "server-key"].contains(String(option.1))
                #expect(
                    secret || option.1 == "tls-key"
                        || !["key", "pass", "secret", "token"].contains { option.1.contains($0) },
                    "is --\(option.1) a secret?")
                guard secret else { continue }
                confidential.insert(String(option.1))
                #expect(line.contains("(environment: BELLWETHER_"), "\(line)")
            }
        }
        #expect(confidential == ["database", "write-key", "server-key"])
    }

    /// Requests of every kind, with keys where they belong and where they do not. Gives all that was answered.
    private func speak(to service: RunningService, writeKey: String, serverKey: String) throws -> String {
        let client = service.client()
        let envelope = Wire.envelope(Wire.event())
        var answers = [
            try client.post(envelope, key: writeKey), try client.post(envelope, key: serverKey),
            try client.post(envelope, key: "bww_sesame"), try client.post("{", key: writeKey),
            try client.post(envelope, key: nil, headers: ["X-API-Key": writeKey, "Cookie": "key=\(serverKey)"]),
            try client.post(envelope, key: nil, headers: ["Authorization": "Basic \(writeKey)"]),
            try client.post(envelope, key: nil, headers: ["Authorization": writeKey]),
            try client.post(envelope, key: "\(writeKey) \(serverKey)"),
            try client.post(envelope, key: writeKey, headers: ["Content-Encoding": serverKey]),
            try client.post(envelope, key: writeKey, headers: ["Content-Type": serverKey]),
        ]
        for (method, path) in [
            ("POST", "/v1/events?key=\(writeKey)"), ("GET", "/\(writeKey)"), ("GET", "/metrics?key=\(serverKey)"),
            (writeKey, "/v1/events"), ("OPTIONS", "/v1/sends?key=\(serverKey)"), ("GET", "/readyz"),
        ] {
            answers.append(try client.send(method, path, headers: ["Origin": "https://\(writeKey).example"]))
        }
        for path in ["/v1/sends", "/v1/categories"] {
            for key in [writeKey, serverKey] {
                answers.append(
                    try client.send(
                        path == "/v1/sends" ? "POST" : "PUT", path,
                        headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
                        body: Array("[]".utf8)))
            }
        }
        #expect(answers.map(\.status).prefix(5) == [200, 403, 401, 400, 401])
        #expect(answers.allSatisfy { (200..<500).contains($0.status) })
        // What is no HTTP gets the library's own answer.
        for text in [
            "POST /v1/events?\(writeKey) HTTP/9.9\r\nHost: b\r\n\r\n", "\(writeKey)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(writeKey)\r\nContent-Length: \(serverKey)\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: b\r\nAuthorization: \(String(repeating: writeKey, count: 2000))\r\n\r\n",
        ] {
            let raw = try RawClient(port: service.port)
            raw.send(text)
            if let answer = try? raw.answer() { answers.append(answer) }
        }
        return answers.map { answer in
            answer.body + answer.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// What a superuser sees of the sessions, and of what is kept of a key.
    private func expectNothingInSessions(of guarded: GuardedDatabase, secrets: [String]) throws {
        var administrator = try guarded.administrator()
        let sessions = try administrator.query(
            "SELECT row::text FROM pg_stat_activity AS row WHERE datname = 'guarded'")
        #expect(sessions.count > 3)
        for row in sessions { Self.expectNone(of: secrets, in: try row.get(0), "pg_stat_activity") }
        let kept = try administrator.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'bellwether_owner'")
        #expect(try kept[0].get(0, as: String.self).hasPrefix("SCRAM-SHA-256$"))
    }
}

extension RunningService {
    /// A service with nothing but these variables of the program's and libpq's.
    fileprivate static func start(
        _ environment: [String: String], _ words: String..., waitsUntilReady: Bool = true
    ) throws -> RunningService {
        let service = try RunningService(
            ChildProcess(
                [Bellwether.path, "serve", "--listen", "127.0.0.1:0"] + words, environment: environment), doors: 1)
        if waitsUntilReady { try service.waitUntilReady() }
        return service
    }
}
