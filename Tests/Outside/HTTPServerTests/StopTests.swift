import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Stopping")
struct StopTests {
    /// Stops on a thread of its own; the lock turns true when it is done.
    private func stop(_ server: TestServer, within seconds: Double) -> Lock<Bool> {
        let done = Lock(false)
        let http = server.server
        _ = Worker(name: "stop") {
            http.stop(deadline: .after(seconds: seconds))
            done.withLockNotifying { $0 = true }
        }
        return done
    }

    private func isDone(_ done: Lock<Bool>, within seconds: Double = 60) -> Bool {
        done.wait(until: .after(seconds: seconds)) { $0 ? true : nil } ?? false
    }

    private func refuses(_ server: TestServer) -> Bool {
        let deadline = Deadline.after(seconds: 60)
        while !deadline.hasPassed {
            guard let client = try? server.client() else { return true }
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try? client.answer(within: 0.5)
        }
        return false
    }

    @Test("what is in flight is waited for and answered, what is new is refused, then all ends")
    func drain() throws {
        let server = try TestServer()
        let parked = try server.client()
        parked.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        let exchange = server.parked(1)[0]
        let reading = try server.client()
        reading.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        _ = server.counts { $0.bodyBytesHeld == 3 }
        let kept = try server.client()
        kept.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try kept.answer().status == 200)

        let done = stop(server, within: 10)
        #expect(refuses(server))
        kept.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let refusal = try kept.answer()
        #expect(refusal.status == 503)
        #expect(refusal["connection"]?.lowercased() == "close")
        #expect(kept.isEnded())
        reading.send("def")
        let echo = try reading.answer()
        #expect(echo.body == "abcdef")
        #expect(echo["connection"]?.lowercased() == "close")
        #expect(!done.withLock { $0 })
        #expect(exchange.respond(Response(status: 201)))
        #expect(try parked.answer().status == 201)
        #expect(isDone(done))
        #expect(parked.isEnded())
    }

    @Test("what has no answer at the deadline gets 503, parked or half sent, and nothing can be answered afterwards")
    func deadline() throws {
        let server = try TestServer()
        let parked = try server.client()
        parked.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        let exchange = server.parked(1)[0]
        let reading = try server.client()
        reading.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        _ = server.counts { $0.bodyBytesHeld == 3 }
        let done = stop(server, within: 0.2)
        #expect(try parked.answer().status == 503)
        #expect(try reading.answer().status == 503)
        #expect(isDone(done))
        #expect(!exchange.respond(Response(status: 200)))
        exchange.readBody(upTo: 10) { _ in Issue.record("a stopped server read a body") }
        #expect(server.server.counts.connectionsOpen == 0)
    }

    @Test("an idle server stops at once, whatever the deadline; again and at the same time too")
    func idle() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 200)
        let all = (0..<3).map { _ in stop(server, within: 3600) }
        for done in all { #expect(isDone(done)) }
        server.server.stop(deadline: .never)
        #expect(client.isEnded())
    }

    @Test("a server that never started stops, and one that is let go of frees its port")
    func neverStarted() throws {
        let handler = Refuser()
        let configuration = HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 0))
        var server: HTTPServer? = try HTTPServer(configuration: configuration, handler: handler, log: .silent) {
            Response(status: $0.status)
        }
        let port = try #require(server?.port)
        server?.stop(deadline: .now)
        server = nil
        let again = HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: port))
        server = try HTTPServer(configuration: again, handler: handler, log: .silent) { Response(status: $0.status) }
        server?.start()
        server = nil
        _ = try HTTPServer(configuration: again, handler: handler, log: .silent) { Response(status: $0.status) }
    }

    @Test("stopping in the middle of a storm never aborts and leaves no exchange behind")
    func storm() throws {
        for round in 0..<10 {
            let server = try TestServer()
            let going = Lock(true)
            let storm = (0..<4).map { number in
                Worker(name: "client \(number)") {
                    while going.withLock({ $0 }), let client = try? server.client() {
                        for path in ["/thread", "/park", "/hello", "/thread-echo"] {
                            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
                            if path != "/park" { _ = try? client.answer(within: 0.05) }
                        }
                    }
                }
            }
            _ = server.parked(20 + round)
            let done = stop(server, within: 0.05)
            for exchange in server.parked.withLock({ $0 }).shuffled() { exchange.respond(Response(status: 200)) }
            #expect(isDone(done))
            going.withLock { $0 = false }
            for worker in storm { worker.join() }
            server.parked.withLock { $0 = [] }
            let counts = server.counts { $0.exchangesAlive == 0 }
            #expect(counts.exchangesAlive == 0)
            #expect(counts.connectionsOpen == 0)
            #expect(counts.requestsInFlight == 0)
            #expect(counts.bodyBytesHeld == 0)
        }
    }

    private struct Refuser: RequestHandler {
        func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep {
            exchange.respond(Response(status: 404))
            return .wait
        }
    }
}
