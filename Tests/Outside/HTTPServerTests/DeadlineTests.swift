import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Deadlines")
struct DeadlineTests {
    /// Sends a byte at a time for as long as the server lets it.
    private func dribble(_ client: RawClient, _ text: String, every seconds: Double) -> Int {
        let pause = Lock(())
        var sent = 0
        for byte in text.utf8 {
            _ = pause.wait(until: .after(seconds: seconds)) { _ in Bool?.none }
            guard client.send([byte]) else { break }
            sent += 1
        }
        return sent
    }

    @Test("a client that dribbles its request line, or says nothing, is cut after the idle time")
    func slowRequestLine() throws {
        let server = try TestServer { $0.idleTimeout = 0.3 }
        let silent = try server.client()
        let slow = try server.client()
        #expect(dribble(slow, String(repeating: "G", count: 200), every: 0.02) < 150)
        #expect(silent.isEnded())
        let counts = server.counts { $0.connectionsOpen == 0 }
        #expect(counts.connectionsCut == 2)
    }

    @Test("a client that dribbles its header fields is cut at the deadline of the request")
    func slowFields() throws {
        let server = try TestServer { $0.requestDeadline = 0.3 }
        let client = try server.client()
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\nX-A: ")
        #expect(dribble(client, String(repeating: "a", count: 200), every: 0.02) < 150)
        #expect(client.isEnded())
    }

    @Test("a client that dribbles its body gets 408 at the deadline of the request, though it never stalls")
    func slowBody() throws {
        let server = try TestServer {
            $0.requestDeadline = 0.3
            $0.bodyStallTimeout = 5
            $0.lingerTime = 0.2
        }
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n")
        let sent = dribble(client, String(repeating: "a", count: 30), every: 0.02)
        #expect(sent > 10)
        let answer = try client.answer()
        #expect(answer.status == 408)
        #expect(answer["connection"] == "close")
        #expect(answer["date"]?.hasSuffix(" GMT") == true)
        #expect(client.isEnded())
        #expect(server.bodies.withLock { $0.isEmpty })
        #expect(server.counts { $0.exchangesAlive == 0 }.answers == [408: 1])
    }

    @Test(
        "a body that stops gets 408",
        arguments: ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"])
    func stalledBody(start: String) throws {
        let server = try TestServer {
            $0.bodyStallTimeout = 0.2
            $0.lingerTime = 0.2
        }
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\n" + start)
        #expect(try client.answer().status == 408)
        #expect(client.isEnded())
        let counts = server.counts { $0.connectionsOpen == 0 && $0.exchangesAlive == 0 }
        #expect(counts.connectionsOpen == 0)
        #expect(counts.exchangesAlive == 0)
        #expect(counts.bodyBytesHeld == 0)
    }

    @Test("408 reaches a client that goes on sending before it reads, and its late body is dropped")
    func stalledThenSends() throws {
        let server = try TestServer {
            $0.bodyStallTimeout = 0.2
            $0.lingerTime = 2
        }
        let client = try server.client()
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc")
        _ = server.counts { $0.answers[408] == 1 }
        client.send([UInt8](repeating: 0x61, count: 999_997))
        #expect(try client.answer().status == 408)
        #expect(client.isEnded())
        #expect(server.bodies.withLock { $0.isEmpty })
    }

    @Test("a handler without an answer is answered for with 503, and its late answer does nothing")
    func parkDeadline() throws {
        let server = try TestServer { $0.parkDeadline = 0.2 }
        let client = try server.client()
        for (number, request) in [
            "GET /park HTTP/1.1\r\nHost: a\r\n\r\n",
            "POST /park HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
            "POST /read-then-park HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        ].enumerated() {
            client.send(request)
            let answer = try client.answer()
            #expect(answer.status == 503)
            #expect(answer["x-fault"] == "yes")
            let exchange = server.parked(number + 1)[number]
            #expect(!exchange.respond(Response(status: 200)))
            exchange.readBody(upTo: 10) { _ in Issue.record("the body of an answered request was handed over") }
        }
        client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body == "hello")
    }

    @Test("a client that does not take its answer is cut")
    func slowReader() throws {
        let server = try TestServer { $0.sendDeadline = 0.3 }
        let client = try server.client()
        client.shrinkReceiveBuffer()
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        let counts = server.counts { $0.connectionsCut == 1 && $0.connectionsOpen == 0 }
        #expect(counts.connectionsCut == 1)
        #expect(counts.connectionsOpen == 0)
        #expect(counts.exchangesAlive == 0)
    }

    @Test("a large answer to a client that reads arrives whole")
    func largeAnswer() throws {
        let server = try TestServer()
        let client = try server.client()
        client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().body.utf8.count == 8 << 20)
    }

    @Test("a connection in use is kept beyond the idle time, and cut when it is idle")
    func idle() throws {
        let server = try TestServer { $0.idleTimeout = 2 }
        let client = try server.client()
        // One request after the other: no machine is so busy that one of them takes as long as that.
        let end = Deadline.after(seconds: 2.5)
        while !end.hasPassed {
            client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.answer().body == "hello")
        }
        #expect(client.isEnded())
    }

    @Test("answers and deadlines that meet leave one answer each, nothing hanging and nothing behind")
    func races() throws {
        let server = try TestServer {
            $0.parkDeadline = 0.02
            $0.bodyStallTimeout = 0.02
            $0.discardTime = 0.02
            $0.lingerTime = 0.02
        }
        let pause = Lock(())
        for round in 0..<60 {
            let client = try server.client()
            let late = Double(round % 12) * 0.003 + 0.01
            if round % 2 == 0 {
                client.send("GET /park HTTP/1.1\r\nHost: a\r\n\r\n")
                let exchange = server.parked(round / 2 + 1).last!
                _ = pause.wait(until: .after(seconds: late)) { _ in Bool?.none }
                let mine = exchange.respond(Response(status: 200))
                #expect(try client.answer().status == (mine ? 200 : 503))
            } else {
                client.send(
                    "POST \(round % 4 == 1 ? "/echo" : "/deny") HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab")
                _ = pause.wait(until: .after(seconds: late)) { _ in Bool?.none }
                client.send("c")
                #expect([200, 401, 408].contains(try client.answer().status))
            }
        }
        server.parked.withLock { $0 = [] }
        let counts = server.counts { $0.exchangesAlive == 0 && $0.connectionsOpen == 0 }
        #expect(counts.exchangesAlive == 0)
        #expect(counts.connectionsOpen == 0)
        #expect(counts.answers.values.reduce(0, +) == 60)
    }
}
