import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("The network fails, or somebody misuses it")
struct NetworkFaultTests {
    @Test("a byte a second, a body that stops and an answer that nobody reads are cut, while good clients are served")
    func slow() async throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let head =
            "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(app.secret)\r\n"
            + "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        // They take up to a minute and would only wait: not on the threads that other tests need.
        async let trickle = apart {
            let client = try RawClient(port: service.port)
            client.send(head)
            let began = Deadline.now
            while Deadline.now.nanoseconds - began.nanoseconds < 90_000_000_000 {
                guard client.send([0x20]) else { break }
                if let answer = try? client.answer(within: 1) { return answer.status }
                if client.hasEnded { break }
            }
            return 0
        }
        async let stall = apart {
            let client = try RawClient(port: service.port)
            client.send(head + "{")
            return try client.answer(within: 40).status
        }
        async let reader = apart {
            let client = try RawClient(port: service.port)
            client.shrinkReceiveBuffer()
            // Until nobody takes them any more. Our own kernel hears late that the server has let go: it asks ever
            // more rarely whether there is room again. So the server is asked, below.
            while client.send(Array("GET /openapi.yaml HTTP/1.1\r\nHost: b\r\n\r\n".utf8)) {}
            return 0
        }
        async let cut = apart {
            try eventually(within: 50) {
                try service.client().get("/metrics").body.contains(#"connections_total{result="cut"} 1"#)
            }
        }
        let load = Load(clients: 1, on: service, key: app.secret)
        #expect(load.isServed(100))
        try Laws.check(load, url: database.url())
        #expect(try await (trickle, stall) == (408, 408))
        #expect(try await cut)
        _ = try await reader
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).results.accepted == 1)
    }

    @Test("connections reset in the middle of a body leave nothing behind and disturb nobody")
    func resets() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let load = Load(clients: 2, on: service, key: app.secret)
        let whole = Wire.envelope(Wire.event())
        for round in 0..<60 {
            let client = try RawClient(port: service.port)
            let body = String(whole.utf8.prefix(whole.utf8.count * (round % 10) / 10)) ?? ""
            client.send(
                "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(app.secret)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(whole.utf8.count)\r\n\r\n\(body)")
            client.reset()
        }
        #expect(load.isServed())
        let observer = service.client()
        let closed = try eventually {
            let metrics = try observer.get("/metrics").body
            let open = metrics.split(separator: "\n").first { $0.hasPrefix("bellwether_connections ") }
            return open.flatMap { Int($0.split(separator: " ")[1]) }.map { $0 <= 3 } == true
        }
        #expect(closed)
        // What was cut off is not in the log: only what the load sent is.
        try Laws.check(load, url: database.url())
    }

    @Test("five hundred idle connections take nothing from good clients, and one over the limit is told so")
    func idle() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve("--connections", "510")
        defer { _ = try? service.stop() }
        var idle: [RawClient] = []
        for number in 0..<500 {
            let client = try RawClient(port: service.port)
            if number % 2 == 0 { client.send("POST /v1/ev") }
            idle.append(client)
        }
        let load = Load(on: service, key: app.secret)
        #expect(load.isServed(100, within: 20))
        load.stop()
        let more = try (0..<20).map { _ in
            let client = try RawClient(port: service.port)
            client.send("GET /healthz HTTP/1.1\r\nHost: b\r\n\r\n")
            return client
        }
        let statuses = more.compactMap { try? $0.answer(within: 5).status }
        #expect(statuses.contains(200) && Set(statuses).isSubset(of: [200, 503]), "\(statuses)")
        idle = []
        let again = eventually { (try? service.client().get("/healthz").status) == 200 }
        #expect(again)
        try Laws.check(load, url: database.url())
    }

    @Test(
        "a request that says twice where its body ends gets 400, and what it smuggled is not run",
        arguments: [
            "Content-Length: 4\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 4",
            "Content-Length: 4\r\nContent-Length: 5", "Content-Length: 4\r\nContent-Length: 4",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer-Encoding: xchunked",
            "Content-Length: +4", "Content-Length: 4, 4", "Content-Length : 4", "Transfer-Encoding:\u{b}chunked",
        ])
    func smuggling(_ lengths: String) throws {
        let (app, service) = try Smuggling.target.get()
        let hidden = Wire.envelope(Wire.event())
        let client = try RawClient(port: service.port)
        client.send(
            "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(app.secret)\r\n"
                + "Content-Type: application/json\r\n\(lengths)\r\n\r\n0\r\n\r\n")
        client.sendEnvelope(hidden, key: app.secret)
        #expect(try client.answer().status == 400)
        #expect(client.isEnded())
        // Nobody has stored it: this is its first copy.
        #expect(try service.client().post(hidden, key: app.secret).results.accepted == 1)
    }

    private enum Smuggling {
        static let target: Result<(TestApp, RunningService), any Error> = Result {
            let database = try TestDatabase.make()
            let service = try Bellwether(database).serve()
            atexit { _ = try? Smuggling.target.get().1.stop() }
            return (try database.makeApp(), service)
        }
    }

    /// Runs on a thread of its own.
    private func apart<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            _ = Worker(name: "apart") { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
