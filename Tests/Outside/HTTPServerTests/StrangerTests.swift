import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

/// `/block` holds the I/O thread until everything has been sent, or the strangers have been at it for a while. So who
/// is served before whom depends on the server alone.
@Suite("Clients that ask for what anybody may ask for, without a pause")
struct StrangerTests {
    private static let connections = 100
    private static let requests = 50

    @Test("a client that has shown a key has its turn after 32 new clients at most, however many there are")
    func newcomers() throws {
        let server = try TestServer()
        let client = try server.client()
        try post(client)
        let newcomers = try (0..<Self.connections).map { _ in try server.client() }
        try together(server) {
            client.send(Self.echo)
            for newcomer in newcomers { newcomer.send(Self.get("/hello")) }
        }
        #expect(try client.answer(within: 60).body == "hi")
        for newcomer in newcomers { #expect(try newcomer.answer(within: 60).body == "hello") }
        let steps = server.steps.withLock { $0 }
        let began = try #require(steps.lastIndex(of: "/echo"))
        #expect(steps[began...].prefix { $0 != "body" }.count <= 1 + 32)
    }

    @Test("a new client's first two requests go before those of strangers who pipeline; the next waits for them")
    func visitors() throws {
        let server = try TestServer()
        let strangers = try (0..<Self.connections).map { _ in try server.client() }
        let newcomer = try server.client()
        for stranger in strangers { stranger.send(String(repeating: Self.get("/hello"), count: 500)) }
        #expect(isBusy(server))
        newcomer.send(String(repeating: Self.get("/new"), count: 4))
        for _ in 0..<4 { #expect(try newcomer.answer(within: 60).status == 404) }
        let steps = server.steps.withLock { $0 }
        let places = steps.indices.filter { steps[$0] == "/new" }
        let between = zip(places, places.dropFirst()).map { $1 - $0 - 1 }
        try #require(between.count == 3)
        // Those who ask have sixteen turns in a round.
        #expect(between[0] <= 2 * 16, "\(between)")
        #expect(between[1...].allSatisfy { $0 >= Self.connections - 1 }, "\(between)")
    }

    @Test("strangers who pipeline have one request each before any of them has two")
    func oneInATurn() throws {
        let server = try TestServer()
        let strangers = try (0..<Self.connections).map { _ in try server.client() }
        try together(server) {
            for (number, stranger) in strangers.enumerated() {
                stranger.send(String(repeating: Self.get("/\(number)"), count: Self.requests))
            }
        }
        for stranger in strangers { for _ in 0..<Self.requests { _ = try stranger.answer(within: 60) } }
        var begun: [String: Int] = [:]
        var turns: [String] = []
        for step in server.steps.withLock({ $0 }) where step != "/block" {
            // The first two requests are not answered in this line, and with the last one somebody leaves it.
            if begun.count == Self.connections, begun.values.allSatisfy({ $0 > 2 }) { turns.append(step) }
            begun[step, default: 0] += 1
            if begun[step] == Self.requests { break }
        }
        try #require(turns.count > 5 * Self.connections)
        #expect(zip(turns, turns.dropFirst(Self.connections)).allSatisfy(==))
    }

    @Test("a stranger who pipelines gets every answer, and is heard when he shows a key at last")
    func patience() throws {
        let server = try TestServer()
        let stranger = try server.client()
        let count = 2000
        stranger.send(String(repeating: Self.get("/hello"), count: count))
        for _ in 0..<count { #expect(try stranger.answer(within: 60).body == "hello") }
        for path in ["/echo", "/thread-echo"] {
            stranger.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nhi")
            _ = server.counts { $0.bodyBytesHeld == 2 }
            stranger.send("ho")
            #expect(try stranger.answer(within: 60).body == "hiho")
            stranger.send(String(repeating: Self.get("/hello"), count: 10))
            for _ in 0..<10 { #expect(try stranger.answer(within: 60).body == "hello") }
        }
    }

    @Test("who has asked for nothing for a while goes before those who pipeline again")
    func rested() throws {
        let server = try TestServer { $0.visitorRest = 0 }
        let monitor = try server.client()
        for _ in 0..<20 {
            monitor.send(Self.get("/hello"))
            #expect(try monitor.answer(within: 60).body == "hello")
        }
        let strangers = try (0..<Self.connections).map { _ in try server.client() }
        for stranger in strangers { stranger.send(String(repeating: Self.get("/hello"), count: 500)) }
        #expect(isBusy(server))
        monitor.send(Self.get("/monitor") + Self.get("/monitor"))
        for _ in 0..<2 { #expect(try monitor.answer(within: 60).status == 404) }
        let steps = server.steps.withLock { $0 }
        let places = steps.indices.filter { steps[$0] == "/monitor" }
        #expect(places.count == 2 && places[1] - places[0] <= 2 * 16)
    }

    private static let echo = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    private func post(_ client: RawClient) throws {
        client.send(Self.echo)
        #expect(try client.answer(within: 60).body == "hi")
    }

    /// Whether each of the strangers has had more than its first two requests by now.
    private func isBusy(_ server: TestServer) -> Bool {
        server.steps.wait(until: .after(seconds: 60)) { $0.count >= 50 * Self.connections ? true : nil } ?? false
    }

    /// What is sent meanwhile reaches the I/O thread at once.
    private func together(_ server: TestServer, _ send: () throws -> Void) throws {
        let blocking = try server.client()
        blocking.send(Self.get("/block"))
        let isBlocked = server.steps.wait(until: .after(seconds: 60)) { $0.last == "/block" ? true : nil }
        #expect(isBlocked == true)
        try send()
        server.gate.withLockNotifying { $0 += 1 }
    }
}
