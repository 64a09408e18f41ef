import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Requests")
struct RequestTests {
    @Test("an answer carries status, length, date and its own fields, and names no server")
    func plainAnswer() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 200)
        #expect(answer.body == "hello")
        #expect(answer["content-length"] == "5")
        #expect(answer["content-type"] == "text/plain")
        #expect(answer["date"]?.hasSuffix(" GMT") == true)
        #expect(answer["server"] == nil)
        #expect(answer["connection"] == nil)
    }

    @Test("the head reaches the handler: method, raw path and query, fields in any case and joined, peer")
    func head() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("PATCH /head?a=%2F&b HTTP/1.1\r\nHost: a\r\nX-A: one\r\nx-a: two\r\n\r\n")
        #expect(try client.answer().body == "PATCH|/head|a=%2F&b|one, two|127.0.0.1")
        client.send("GET /he%61d HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 404)
        client.send("GET http://example.org/head?q HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "GET|/head|q|-|127.0.0.1")
        client.send("GET HTTP://example.org HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 404)
    }

    @Test("HEAD gets the fields of the answer without its body, and the connection goes on")
    func headRequest() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.answer(toHead: true)
        #expect(answer.status == 200)
        #expect(answer["content-length"] == "5")
        #expect(try client.answer().body == "hello")
    }

    @Test("a body arrives whole, announced or chunked, in one piece or byte by byte")
    func bodies() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde")
        #expect(try client.answer().body == "abcde")
        let chunked =
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
            + "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
        client.send(chunked)
        #expect(try client.answer().body == "abc0123456789")
        for byte in chunked.utf8 { client.send([byte]) }
        #expect(try client.answer().body == "abc0123456789")
        let large = String(repeating: "0123456789abcdef", count: 60_000)
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(large.utf8.count)\r\n\r\n" + large)
        #expect(try client.answer().body == large)
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        #expect(try client.answer().body.isEmpty)
        client.send("GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body.isEmpty)
        #expect(server.server.counts.bodyBytesHeld == 0)
    }

    @Test("an answer may come from another thread, before or after the body was read")
    func otherThreads() throws {
        let server = try TestServer()
        let client = try server.client()
        for _ in 0..<50 {
            client.send("GET /thread HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().body == "later")
            client.send("POST /thread-echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            #expect(try client.answer().body == "abc")
        }
    }

    @Test("requests sent without waiting are answered in their order, though the first is parked")
    func pipelining() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(
            "GET /park HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
                + "GET /thread HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        for exchange in server.parked(1) { exchange.respond(Response(status: 201)) }
        #expect(try client.answer().status == 201)
        #expect(try client.answer().body == "hi")
        #expect(try client.answer().body == "later")
        #expect(try client.answer().body == "hello")
    }

    @Test("only the first of two answers counts")
    func twice() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /twice HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "first")
    }

    @Test("a late answer to a request is not taken for the next one's")
    func lateAnswer() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        let first = server.parked(1)[0]
        #expect(first.respond(Response(status: 201)))
        #expect(try client.answer().status == 201)
        client.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
        let second = server.parked(2)[1]
        #expect(!first.respond(Response(status: 500)))
        #expect(second.respond(Response(status: 202)))
        #expect(try client.answer().status == 202)
    }

    @Test("a field that would break the answer apart is left out")
    func headerInjection() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /evil HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.answer()
        #expect(answer["x-good"] == "1")
        #expect(answer["x-bad"] == nil)
        #expect(answer["x-made"] == nil)
        #expect(answer.headers.filter { $0.name == "content-length" }.map(\.value) == ["2"])
    }

    @Test("a client that finishes sending before it reads gets its answer")
    func halfClosed() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        client.finishSending()
        #expect(try client.answer().body == "abc")
        #expect(client.isEnded())
    }

    @Test("HTTP/1.0 is answered, and the connection closed unless the client wants to keep it")
    func oldHTTP() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(try client.answer().body == "hello")
        client.send("GET /hello HTTP/1.0\r\n\r\n")
        #expect(try client.answer().body == "hello")
        #expect(client.isEnded())
    }

    @Test("a thousand requests leave nothing behind, whoever answered them")
    func noLeak() throws {
        let server = try TestServer()
        let client = try server.client()
        for number in 0..<1000 {
            switch number % 4 {
            case 0: client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            case 1: client.send("POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd")
            case 2: client.send("POST /thread-echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd")
            default: client.send("GET /thread HTTP/1.1\r\nHost: a\r\n\r\n")
            }
            _ = try client.answer()
        }
        let counts = server.counts { $0.exchangesAlive == 0 && $0.requestsInFlight == 0 }
        #expect(counts.exchangesAlive == 0)
        #expect(counts.requestsInFlight == 0)
        #expect(counts.answers == [200: 750, 401: 250])
    }

    @Test("a client that goes away in the middle leaves nothing behind")
    func goneClients() throws {
        let server = try TestServer()
        for _ in 0..<20 {
            try server.client().send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nabc")
            try server.client().send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
            try server.client().send("GET /hel")
        }
        for exchange in server.parked(20) { exchange.respond(Response(status: 200)) }
        server.parked.withLock { $0 = [] }
        let counts = server.counts { $0.connectionsOpen == 0 && $0.exchangesAlive == 0 }
        #expect(counts.connectionsOpen == 0)
        #expect(counts.exchangesAlive == 0)
        #expect(counts.requestsInFlight == 0)
        #expect(counts.bodyBytesHeld == 0)
    }
}
