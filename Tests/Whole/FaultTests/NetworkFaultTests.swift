import Compression
import Foundation
import Postgres
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
            let end = Deadline.after(seconds: 90)
            while !end.hasPassed {
                guard client.send([0x20]) else { break }
                if let answer = try? client.answer(within: 1) { return answer.status }
                if client.hasEnded { break }
            }
            return 0
        }
        async let fields = apart {
            let client = try RawClient(port: service.port)
            client.send(String(head.prefix(30)))
            // A whole field every now and then would make it no better.
            var rest = Array("\r\n".utf8) + (0..<200).map { _ in UInt8(ascii: "x") }
            let end = Deadline.after(seconds: 90)
            while !end.hasPassed, client.send([rest.removeFirst()]) {
                if let answer = try? client.answer(within: 1) { return answer.status }
                if client.hasEnded { return 408 }
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
        #expect(try await (trickle, fields, stall) == (408, 408, 408))
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

    @Test("envelopes sent one after another without waiting are answered in their order, and each is stored once")
    func pipelining() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let load = shop.load(clients: 2, on: service)
        #expect(load.isServed())
        let client = try RawClient(port: service.port)
        // Of different sizes, so that an answer tells which envelope it is of; every seventh comes twice.
        let ids = (0..<60).map { number in (0...(number % 7)).map { _ in Wire.id() } }
        for (number, ids) in ids.enumerated() {
            let envelope = Wire.envelope(ids.map { Wire.event(id: $0) })
            for _ in 0..<(number % 7 == 6 ? 2 : 1) { client.sendEnvelope(envelope, key: shop.app.secret) }
        }
        for (number, ids) in ids.enumerated() {
            let count = ids.count
            #expect(try client.answer(within: 60).results.accepted == count, "answer \(number)")
            if count == 7 {
                #expect(try client.answer(within: 60).results.duplicate == count, "answer \(number) again")
            }
        }
        load.stop()
        let stored: [String] = try shop.database.column("SELECT event_id::text FROM log.event")
        #expect(Set(stored).count == stored.count && Set(stored).isSuperset(of: ids.joined()))
        try Laws.checkFunnels(url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    @Test(
        "five thousand idle connections take nothing from good clients, little memory, and one over the limit is told so",
        .enabled(if: OpenFiles.raiseLimit(to: 8000) >= 8000, "so many files may not be open here"))
    func idle() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve("--connections", "5010")
        defer { _ = try? service.stop() }
        #expect(try service.client().post(Wire.envelope([]), key: shop.app.secret).status == 200)
        let before = try #require(ProcessTable.peakMemory(of: service.process.id))
        var idle: [RawClient] = []
        for number in 0..<5000 {
            let client = try RawClient(port: service.port)
            if number % 2 == 0 { client.send("POST /v1/ev") }
            idle.append(client)
        }
        let load = shop.load(on: service)
        #expect(load.isServed(100))
        load.stop()
        let grown = try #require(ProcessTable.peakMemory(of: service.process.id)) - before
        #expect(grown < 100_000, "\(grown) KiB")
        FaultLength.report("5,000 idle connections: \(grown) KiB of memory")
        // Some of those that were there first have been idle for too long by now, if the machine is slow.
        let more = (0..<20).compactMap { _ in try? RawClient(port: service.port) }
        for client in more { client.send("GET /healthz HTTP/1.1\r\nHost: b\r\n\r\n") }
        let statuses = more.compactMap { try? $0.answer(within: 30).status }
        #expect(statuses.contains(200) && Set(statuses).isSubset(of: [200, 503]), "\(statuses)")
        idle = []
        let again = eventually { (try? service.client().get("/healthz").status) == 200 }
        #expect(again)
        try Laws.check(load, url: shop.database.url())
    }

    @Test(
        "bodies that unpack without end, TLS and noise on the plain port are refused within bounds, and disturb nobody")
    func garbage() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        defer { _ = try? service.stop() }
        let load = shop.load(clients: 2, on: service)
        #expect(load.isServed())
        let before = try #require(ProcessTable.peakMemory(of: service.process.id))
        // 64 MiB in 64 KiB, and a MiB on the wire that would be a GiB.
        let bomb = gzip(Array(repeating: UInt8(ascii: " "), count: 64 << 20))
        let chain = Array(repeatElement(bomb, count: (1 << 20) / bomb.count).joined())
        let end = Deadline.after(seconds: 120)
        try together(8) { number in
            let client = service.client()
            for _ in 0..<5 {
                let post = {
                    try client.post(
                        number % 2 == 0 ? bomb : chain, key: shop.app.secret, headers: ["Content-Encoding": "gzip"])
                }
                var answer = try post()
                // On a busy machine the app's own requests wait for each other.
                while answer.status == 503, !end.hasPassed { answer = try post() }
                #expect(answer.status == 413 && answer.problem?.code == "unpacked_too_large", "\(answer)")
            }
        }
        // A TLS 1.2 client's hello, its record's length a lie; and noise.
        let hello: [UInt8] = [22, 3, 1, 255, 255, 1, 0, 0, 252, 3, 3] + (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        for number in 0..<100 {
            let client = try RawClient(port: service.port)
            client.send(number % 2 == 0 ? hello : (0..<2000).map { _ in .random(in: 0...255) })
            client.finishSending()
            // A word or none, and then the end.
            if let answer = try? client.answer(within: 60) { #expect(answer.status >= 400, "\(answer)") }
        }
        #expect(load.isServed())
        let grown = try #require(ProcessTable.peakMemory(of: service.process.id)) - before
        #expect(grown < 150_000, "\(grown) KiB")
        FaultLength.report("40 gzip bombs and 100 connections of garbage: \(grown) KiB of memory")
        try Laws.check(load, url: shop.database.url())
    }

    @Test("after bodies that were held are gone, their memory goes back to the system")
    func givenBack() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let head =
            "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(app.secret)\r\n"
            + "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        func memory() throws -> Int { try #require(ProcessTable.memory(of: service.process.id)) }
        let before = try memory()
        var clients: [RawClient] = []
        for _ in 0..<100 {
            let client = try RawClient(port: service.port)
            client.send(head)
            client.send([UInt8](repeating: 0x20, count: 900_000))
            clients.append(client)
        }
        #expect(try eventually { try memory() > before + 75 << 10 })
        clients.removeAll()
        // Without giving it back, all of it would stay. Some is the service's own, which has just started.
        #expect(try eventually(within: 60) { try memory() < before + 50 << 10 })
    }

    @Test("what strangers pipeline waits in the kernel, not in the service's memory")
    func pipelinedMemory() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve()
        defer { _ = try? service.stop() }
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        func memory() throws -> Int { try #require(ProcessTable.memory(of: service.process.id)) }
        let before = try memory()
        let request = "GET /nothing HTTP/1.1\r\nHost: b\r\n\r\n"
        let strangers = try (0..<400).map { _ in
            let stranger = try RawClient(port: service.port)
            stranger.send(String(repeating: request, count: 60_000 / request.utf8.count))
            return stranger
        }
        for stranger in strangers { #expect(try stranger.answer(within: 60).status == 404) }
        // It would be 25 MB and more if all were read that has come.
        #expect(try memory() < before + 16 << 10)
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
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
