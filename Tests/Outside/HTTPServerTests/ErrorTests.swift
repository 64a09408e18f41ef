import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Errors that reach the client")
struct ErrorTests {
    private static let large = [UInt8](repeating: 0x61, count: 4 << 20)

    @Test(
        "an error decided at the head reaches a client that sends its whole body first, and the connection goes on",
        arguments: ["/deny", "/nowhere"])
    func sendsFirst(path: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(ErrorTests.large.count)\r\n\r\n")
        #expect(client.send(ErrorTests.large))
        #expect(try client.answer().status == (path == "/deny" ? 401 : 404))
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "hello")
    }

    @Test("a body announced over the limit is refused with 413 and the connection survives")
    func announcedTooLarge() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(ErrorTests.large.count)\r\n\r\n")
        #expect(client.send(ErrorTests.large))
        let answer = try client.answer()
        #expect(answer.status == 413)
        #expect(answer["x-fault"] == "yes")
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "hello")
        #expect(server.bodies.withLock { $0.isEmpty })
    }

    @Test("a chunked body over the limit is refused with 413 and the connection survives")
    func chunkedTooLarge() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in 0..<4 {
            client.send("100000\r\n")
            #expect(client.send([UInt8](repeating: 0x61, count: 1 << 20)))
            client.send("\r\n")
        }
        client.send("0\r\n\r\n")
        #expect(try client.answer().status == 413)
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "hello")
        #expect(server.server.counts.bodyBytesHeld == 0)
    }

    @Test("a body of exactly the limit is taken, one byte more is not")
    func limitIsExact() throws {
        let server = try TestServer()
        let client = try server.client()
        for (size, status) in [(1 << 20, 200), (1 << 20 + 1, 413)] {
            for framed in ["Content-Length: \(size)\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"] {
                let body = [UInt8](repeating: 0x61, count: size)
                client.send("POST /count HTTP/1.1\r\nHost: a\r\n" + framed)
                if framed.hasPrefix("T") {
                    client.send(Array("\(String(size, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8))
                } else {
                    client.send(body)
                }
                #expect(try client.answer().status == status)
            }
        }
    }

    @Test("over what is dropped at most, the client is told at once and cut soon")
    func discardLimit() throws {
        let server = try TestServer {
            $0.discardLimit = 1 << 20
            $0.lingerTime = 0.2
        }
        let client = try server.client()
        client.send("POST /deny HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\n")
        #expect(client.send([UInt8](repeating: 0x61, count: 1_200_000)))
        let answer = try client.answer()
        #expect(answer.status == 401)
        #expect(answer["connection"] == "close")
        #expect(answer.body == "who are you?")
        #expect(client.isEnded())
        let counts = server.counts { $0.connectionsOpen == 0 }
        #expect(counts.connectionsOpen == 0)
    }

    @Test("over the time in which a body is dropped, the client is told and cut, whoever refused it")
    func discardTime() throws {
        let server = try TestServer {
            $0.discardTime = 0.1
            $0.lingerTime = 0.1
            $0.headerLimit = 4096
        }
        for (path, status) in [("/deny", 401), ("/" + String(repeating: "a", count: 5000), 431)] {
            let client = try server.client()
            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
            #expect(try client.answer().status == status)
            #expect(client.isEnded())
        }
    }

    @Test("a client that asks before it sends gets the error at once and no 100")
    func expectContinueRefused() throws {
        let server = try TestServer()
        for (path, status) in [("/deny", 401), ("/echo", 413)] {
            let client = try server.client()
            client.send(
                "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.answer().status == status)
            #expect(client.isEnded())
        }
    }

    @Test("a client that asks before it sends is told to go on when its body is wanted")
    func expectContinueWanted() throws {
        let server = try TestServer()
        for path in ["/echo", "/thread-echo"] {
            let client = try server.client()
            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n")
            #expect(try client.answer().status == 100)
            client.send("abc")
            #expect(try client.answer().body == "abc")
        }
    }

    @Test("a client that asked but did not wait still reads its error: the socket lingers")
    func expectContinueImpatient() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(
            "POST /park HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\nExpect: 100-continue\r\n\r\n")
        let exchange = server.parked(1)[0]
        #expect(client.send([UInt8](repeating: 0x61, count: 100_000)))
        exchange.respond(Response(status: 403))
        client.send([UInt8](repeating: 0x61, count: 2_900_000))
        #expect(try client.answer().status == 403)
    }

    @Test(
        "a head that leaves open where the body ends is refused and the connection closed",
        arguments: [
            "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 0\r\nContent-Length: 0", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: xchunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Content-Length : 5",
            "Transfer-Encoding : chunked", "Transfer-Encoding:\tchunked \r\nX\tY: z", "X(Y): z",
            "X: a\r\nTransfer-Encoding: chun\r\n ked", "Content-Length: 1\r\n\t0", "X: a\r\n b: c",
            "X:\r\n Content-Length: 5",
            " Content-Length: 5", "Content-Length: 3\r\n ",
        ])
    func smuggling(fields: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(
            "POST /echo HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try client.answer()
        #expect(answer.status == 400)
        #expect(answer["connection"]?.lowercased() == "close")
        #expect(client.isEnded())
        #expect(server.bodies.withLock { $0.isEmpty })
    }

    @Test("chunks in HTTP/1.0 are refused")
    func chunkedInOldHTTP() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(try client.answer().status == 400)
        #expect(client.isEnded())
    }

    @Test(
        "malformed HTTP gets one answer, 400, and a closed connection",
        arguments: [
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n\r\nabc",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nabc",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nabcde",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabc",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef",
            "GET /hello HTTP/1.1\r\n\r\n", "GET /hello\r\n\r\n", "GET /he llo HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /hello HTTP/7.3\r\nHost: a\r\n\r\n", "hello\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\r\n",
            "GET /hello HTTP/1.1\r\nno colon\r\n\r\n",
        ])
    func malformed(request: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(request)
        #expect(try client.answer().status == 400)
        #expect(client.isEnded())
        #expect(server.bodies.withLock { $0.isEmpty })
        let other = try server.client()
        other.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try other.answer().body == "hello")
    }

    @Test("a head over the limit is refused, a little over or far over")
    func headLimit() throws {
        let server = try TestServer { $0.headerLimit = 4096 }
        for size in [4200, 60_000] {
            let client = try server.client()
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\nX-A: \(String(repeating: "a", count: size))\r\n\r\n")
            #expect(try client.answer().status == 431)
        }
        let client = try server.client()
        client.send("GET /head HTTP/1.1\r\nHost: a\r\nX-A: \(String(repeating: "a", count: 4000))\r\n\r\n")
        #expect(try client.answer().body.count > 4000)
    }

    @Test("a head of just the limit passes with the default limits, in many fields or few")
    func headUpToLimit() throws {
        let server = try TestServer()
        let client = try server.client()
        for (count, size) in [(1, 16_000), (150, 90)] {
            let fields = String(repeating: "X-A: \(String(repeating: "a", count: size))\r\n", count: count)
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            #expect(try client.answer().body == "hello")
        }
    }

    @Test("of bodies that do not fit into memory together that which has been arriving for longest is refused with 503")
    func bodyMemory() throws {
        let server = try TestServer { $0.memoryLimit = 300_000 }
        let first = try server.client()
        first.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n")
        first.send([UInt8](repeating: 0x61, count: 79_000))
        _ = server.counts { $0.bodyBytesHeld == 79_000 }
        let second = try server.client()
        second.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 90000\r\n\r\n")
        second.send([UInt8](repeating: 0x61, count: 90_000))
        #expect(try second.answer().body == "90000")
        #expect(try first.answer().status == 503)
        #expect(first.isEnded())
        // One that does not fit by itself.
        let third = try server.client()
        third.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
        third.send([UInt8](repeating: 0x61, count: 300_000))
        #expect(try third.answer().status == 503)
        let counts = server.counts { $0.bodyBytesHeld == 0 && $0.memoryHeld < 50_000 }
        #expect(counts.bodyBytesHeld == 0 && counts.memoryHeld < 50_000)
    }
}
