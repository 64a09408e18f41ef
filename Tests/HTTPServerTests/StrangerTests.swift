import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("Clients that ask for what anybody may ask for, without a pause")
struct StrangerTests {
    private static let connections = 400
    private static let requestsOnEach = 500

    @Test("strangers who pipeline on many connections wait behind a client that has work for the handler")
    func pipelining() throws {
        let server = try TestServer()
        let client = try server.client()
        try post(client)
        let strangers = try (0..<Self.connections).map { _ in try server.client() }
        let requests = String(repeating: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", count: Self.requestsOnEach)
        for stranger in strangers { stranger.send(requests) }
        for _ in 0..<20 { try post(client) }

        let steps = server.steps.withLock { $0 }
        var between: [Int] = []
        for (index, step) in steps.enumerated() where step == "/echo" {
            between.append(steps[index...].prefix { $0 != "body" }.count { $0 == "/hello" })
        }
        #expect(between.count == 21)
        // Once each of the strangers has its turn in between, it is as many as there are connections.
        #expect(between.sorted()[between.count / 2] < Self.connections / 4)
        #expect(steps.count { $0 == "/hello" } < Self.connections * Self.requestsOnEach, "they were done before")
        #expect(steps.contains("/hello"))
    }

    @Test("a stranger who pipelines gets every answer, in the end")
    func patience() throws {
        let server = try TestServer()
        let stranger = try server.client()
        let count = 2000
        stranger.send(String(repeating: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", count: count))
        for _ in 0..<count { #expect(try stranger.answer(within: 60).body == "hello") }
        try post(stranger)
    }

    private func post(_ client: RawClient) throws {
        client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
        #expect(try client.answer(within: 60).body == "hi")
    }
}
