import HTTPServer
import Posting
import ServiceRuntime
import Simulation
import Testing
import Values

@Suite("A post office")
struct EnvelopeSenderTests {
    private static let start = Timestamp(microseconds: 1_795_167_010_000_000)

    /// Envelopes of a quarter of an hour or so, each different.
    private func envelopes(_ count: Int) -> [KeyedEnvelope] {
        var world = World(steady: .shop, seed: 5, installs: 200, from: Self.start)
        var envelopes: [KeyedEnvelope] = []
        var time = Self.start
        while envelopes.count < count {
            world.push()
            time = time + 1_000_000
            envelopes += world.advance(to: time).filter { $0.repeated == 0 }.map { KeyedEnvelope($0, key: "key") }
        }
        return Array(envelopes.prefix(count))
    }

    private func office(
        _ server: ScriptedServer, connections: Int = 1,
        _ adjust: (inout EnvelopeSender.Configuration) -> Void = { _ in }
    ) -> EnvelopeSender {
        var configuration = EnvelopeSender.Configuration(server: ServerAddress(server.url))
        configuration.connections = connections
        adjust(&configuration)
        return EnvelopeSender(configuration)
    }

    @Test("brings each keyed once, with its key, over few connections, and sums up the answers")
    func brings() throws {
        let server = try ScriptedServer([ScriptedServer.taken(2)])
        let office = office(server, connections: 3)
        try office.post(envelopes(50))
        #expect(try office.drain(until: .after(seconds: 30)))
        let tally = office.close(by: .now)
        #expect(server.requests.count == 50)
        #expect(Set(server.requests.map(\.rest)).count == 50)
        #expect(Set(server.requests.map(\.key)) == ["Bearer key"])
        #expect(server.connections <= 3)
        #expect(tally.envelopes == 50 && tally.accepted == 100 && tally.retried == 0 && tally.unsent == 0)
        // The script answers two for each, whatever is in them.
        #expect(tally.addsUp == (tally.sent == 100))
    }

    @Test("brings again, unchanged but for the time of sending, what the server puts off, and not before it may")
    func later() throws {
        let server = try ScriptedServer([
            Response(status: 503, headers: [("Retry-After", "1")]), Response(status: 429), Response(status: 500),
            ScriptedServer.taken(1),
        ])
        let office = office(server)
        try office.post(envelopes(1))
        #expect(try office.drain(until: .after(seconds: 30)))
        let requests = server.requests
        try #require(requests.count == 4)
        #expect(Set(requests.map(\.rest)).count == 1)
        #expect(Set(requests.map(\.body)).count == 4)
        #expect(requests[1].at.nanoseconds - requests[0].at.nanoseconds >= 1_000_000_000)
        #expect(office.close(by: .now).retried == 3)
    }

    @Test("tells what is wrong while nobody is there, and goes on when the server comes back")
    func comesBack() throws {
        let gone = try ScriptedServer([ScriptedServer.taken(1)])
        let (url, port) = (gone.url, gone.port)
        _ = consume gone
        let office = EnvelopeSender(EnvelopeSender.Configuration(server: ServerAddress(url)))
        let envelopes = envelopes(2)
        try office.post([envelopes[0]])
        #expect(try !office.drain(until: .after(seconds: 0.3)))
        #expect(office.trouble?.contains("is the server running at \(url)") == true)
        let back = try ScriptedServer([ScriptedServer.taken(1)], port: port)
        #expect(try office.drain(until: .after(seconds: 60)))
        #expect(office.trouble == nil)
        #expect(back.requests.count == 1 && office.tally.retried > 0 && office.tally.unsent == 0)
        _ = consume back
        // Nobody there again, and no time left: given up, and counted as that.
        try office.post([envelopes[1]])
        let tally = office.close(by: .after(seconds: 0.5))
        #expect(tally.envelopes == 1 && tally.unsent == envelopes[1].envelope.events && !tally.addsUp)
    }

    @Test("a key that is refused ends everything, and the server's words are told", arguments: [401, 403])
    func refused(status: Int) throws {
        let detail = Array(#"{"code":"x","detail":"This key was closed.\u001b[31m"}"#.utf8)
        let server = try ScriptedServer([ScriptedServer.taken(1), Response(status: status, body: detail)])
        let office = office(server)
        try office.post(envelopes(5))
        let error = try #require(throws: PostingError.self) { try office.drain(until: .after(seconds: 30)) }
        #expect(error == .keyRefused(status: status, "This key was closed.\u{1B}[31m"))
        #expect("\(error)".contains("This key was closed.") && !"\(error)".contains("\u{1B}"))
        #expect(throws: error) { try office.post(envelopes(1)) }
        #expect(server.requests.count == 2)
        #expect(office.close(by: .now).unsent >= 4)
    }

    @Test(
        "what is no Bellwether is recognised",
        arguments: [
            (Response(status: 404), "has no /v1/events"),
            (Response(status: 200, body: [0x68, 0x69]), "not as a Bellwether"),
            (ScriptedServer.taken(.max), "not as a Bellwether"), (ScriptedServer.taken(-1), "not as a Bellwether"),
            (Response(status: 302, headers: [("Location", "/")]), "refused an envelope (302)"),
        ])
    func stranger(answer: Response, words: String) throws {
        let server = try ScriptedServer([answer])
        let error = try #require(throws: PostingError.self) {
            try EnvelopeSender.greet(ServerAddress(server.url), key: "key")
        }
        #expect("\(error)".contains(words), "\(error)")
    }

    @Test("a greeting asks about the key without an event, and 'later' is an answer to it")
    func greeting() throws {
        let server = try ScriptedServer([ScriptedServer.taken(0), Response(status: 503)])
        for path in ["", "/", "/v1/events"] {
            try EnvelopeSender.greet(ServerAddress(server.url + path), key: "key")
        }
        #expect(server.requests.map(\.body) == Array(repeating: #"{"events":[]}"#, count: 3))
    }

    @Test("no keyed leaves while one from much before is on its way")
    func span() throws {
        let server = try ScriptedServer([
            Response(status: 503, headers: [("Retry-After", "1")]), ScriptedServer.taken(1),
        ])
        let envelopes = envelopes(400)
        let span: Int64 = 20_000_000
        let newest = Lock(Timestamp(microseconds: 0))
        let widest = Lock<Int64>(0)
        let office = office(server, connections: 8) { configuration in
            configuration.span = span
            configuration.stamp = { envelope in
                let ahead = newest.withLock { newest in
                    newest = max(newest, envelope.time)
                    return newest - envelope.time
                }
                widest.withLock { $0 = max($0, ahead) }
                return envelope.time
            }
        }
        #expect(envelopes[399].envelope.time - envelopes[0].envelope.time > 5 * span)
        try office.post(envelopes)
        #expect(try office.drain(until: .after(seconds: 60)))
        #expect(office.close(by: .now).envelopes == 400)
        #expect((1...span).contains(widest.withLock { $0 }))
    }

    @Test("whoever posts more than may wait, waits, and is let go when the office closes")
    func bounded() throws {
        let server = try ScriptedServer([Response(status: 503, headers: [("Retry-After", "600")])])
        let office = office(server) { $0.mostWaiting = 10 }
        let envelopes = envelopes(40)
        let posted = Lock(0)
        let poster = Worker(name: "poster") {
            for keyed in envelopes {
                try? office.post([keyed])
                posted.withLockNotifying { $0 += 1 }
            }
        }
        // One is on its way, ten wait, and the next one is let in no more.
        #expect(posted.wait(until: .after(seconds: 30)) { $0 >= 11 ? $0 : nil } == 11)
        let isMore: Bool? = posted.wait(until: .after(seconds: 0.3)) { $0 > 11 ? true : nil }
        #expect(isMore == nil)
        #expect(office.close(by: .now).envelopes == 0)
        poster.join()
        #expect(posted.withLock { $0 } == 40)
    }
}
