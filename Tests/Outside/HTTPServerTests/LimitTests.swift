import Glibc
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Limits on connections")
struct LimitTests {
    @Test(
        "for a client over the limit that which has been idle for longest goes; where all are at work, it is told 503")
    func connectionLimit() throws {
        let server = try TestServer { $0.connectionLimit = 2 }
        let first = try server.client()
        let second = try server.client()
        for client in [second, first] {
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().status == 200)
        }
        let third = try server.client()
        third.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        let parked = server.parked(1)
        #expect(second.isEnded())
        first.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.parked(2).count == 2 && parked.count == 1)
        let fourth = try server.client()
        let answer = try fourth.answer()
        #expect(answer.status == 503)
        #expect(answer["connection"] == "close")
        #expect(fourth.isEnded())
        let counts = server.counts { $0.connectionsOpen == 2 }
        #expect(counts.connectionsRefused == 1 && counts.connectionsEvicted == 1)
        for exchange in server.parked.withLock({ $0 }) { exchange.respond(Response(status: 201)) }
        #expect(try first.answer().status == 201)
        #expect(try third.answer().status == 201)
    }

    @Test("a stranger who takes all connections there may be, and says nothing or half a head, keeps nobody out")
    func stranger() throws {
        let server = try TestServer { $0.connectionLimit = 200 }
        let strangers = try (0..<400).map { number in
            let client = try server.client()
            if number % 2 == 0 { client.send("GET /hello HT") }
            return client
        }
        for _ in 0..<50 {
            let client = try server.client()
            client.send("POST /thread-echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
            #expect(try client.answer().body == "hi")
        }
        let counts = server.server.counts
        #expect(counts.connectionsRefused == 0 && counts.connectionsOpen <= 200 && counts.connectionsEvicted >= 200)
        #expect(strangers.count == 400)
    }

    @Test(
        "bodies that come byte by byte on all connections there may be keep nobody out: the oldest are told to come again"
    )
    func slowBodies() throws {
        let server = try TestServer { $0.connectionLimit = 8 }
        let slow = try (0..<8).map { number in
            let client = try server.client()
            client.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\na")
            _ = server.counts { $0.bodyBytesHeld == number + 1 }
            return client
        }
        var answered: [RawClient] = []
        for _ in 0..<20 {
            let client = try server.client()
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().body == "hello")
            answered.append(client)
        }
        let told = try slow[0].answer()
        #expect(told.status == 503 && told["connection"] == "close")
        #expect(slow[0].isEnded())
        #expect(server.server.counts.connectionsRefused == 0 && answered.count == 20)
    }

    @Test("a body of tiny chunks that nobody wants is read up to the limit of what carries it")
    func tinyChunksDropped() throws {
        let server = try TestServer {
            $0.discardLimit = 100_000
            $0.discardTime = 600
            $0.requestDeadline = 600
        }
        let client = try server.client()
        client.send("POST /deny HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send(String(repeating: "1\r\na\r\n", count: 17_000))
        let answer = try client.answer()
        #expect(answer.status == 401 && answer["connection"] == "close")
    }

    @Test("a body of thousands of chunks lets others have their turn between them")
    func tinyChunksInTurns() throws {
        let server = try TestServer()
        let (blocking, chunked, other) = (try server.client(), try server.client(), try server.client())
        chunked.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        _ = server.counts { $0.bodyBytesHeld == 1 }
        blocking.send("GET /block HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(server.isBlocked(after: 2))
        chunked.send(String(repeating: "1\r\na\r\n", count: 7000) + "0\r\n\r\n")
        other.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        server.gate.withLockNotifying { $0 += 1 }
        #expect(try other.answer().body == "hello")
        #expect(try chunked.answer().body.utf8.count == 7001)
        #expect(server.steps.withLock { $0 } == ["/echo", "/block", "/hello", "body"])
    }

    @Test("idle connections give way to bodies when the memory is used up, and who does not read his answer, too")
    func memory() throws {
        let server = try TestServer { $0.memoryLimit = 4 << 20 }
        let idle = try (0..<20).map { _ in
            let client = try server.client()
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().status == 200)
            return client
        }
        // Eight megabytes that nobody reads: more than there is for all.
        let unread = try server.client()
        unread.shrinkReceiveBuffer()
        unread.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        let body = [UInt8](repeating: 0x61, count: 1 << 20)
        let posting = try server.client()
        posting.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
        posting.send(body)
        #expect(try posting.answer().body == "1048576")
        let counts = server.counts { $0.memoryHeld < 4 << 20 }
        #expect(counts.memoryHeld < 4 << 20 && counts.connectionsEvicted > 0)
        #expect(idle.count == 20)
    }

    @Test("the limit per address counts each address for itself")
    func perAddress() throws {
        let server = try TestServer(listen: .tcp(host: "::", port: 0)) { $0.connectionsPerAddress = 1 }
        let first = try server.client()
        first.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try first.answer().status == 200)
        let second = try server.client()
        #expect(try second.answer().status == 503)
        let other = try RawClient(port: server.port, family: AF_INET6)
        other.send("GET /head HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try other.answer().body == "GET|/head|-|-|::1")
    }

    @Test("hundreds of clients at once are all answered")
    func manyClients() throws {
        let server = try TestServer()
        let clients = try (0..<300).map { _ in try server.client() }
        for round in 0..<3 {
            for client in clients {
                client.send("POST /thread-echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n\(round)")
            }
            for client in clients { #expect(try client.answer().body == "\(round)") }
        }
        #expect(server.server.counts.connectionsAccepted == 300)
        #expect(server.server.counts.connectionsOpen == 300)
    }
}
