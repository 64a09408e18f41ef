import Glibc
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Limits on connections")
struct LimitTests {
    @Test("a client over the limit is told 503, and room is made when another leaves")
    func connectionLimit() throws {
        let server = try TestServer { $0.connectionLimit = 2 }
        let first = try server.client()
        do {
            let second = try server.client()
            for client in [first, second] {
                client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.answer().status == 200)
            }
            let third = try server.client()
            third.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try third.answer()
            #expect(answer.status == 503)
            #expect(answer["connection"] == "close")
            #expect(third.isEnded())
        }
        let counts = server.counts { $0.connectionsOpen == 1 }
        #expect(counts.connectionsRefused == 1)
        let fourth = try server.client()
        fourth.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try fourth.answer().status == 200)
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

    @Test("hundreds of clients at once are all answered, by one I/O thread or two", arguments: [1, 2])
    func manyClients(threads: Int) throws {
        let server = try TestServer { $0.ioThreads = threads }
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
