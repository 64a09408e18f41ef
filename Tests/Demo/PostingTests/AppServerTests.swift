import HTTPServer
import Posting
import Simulation
import Testing
import Values

@Suite("An app's server")
struct AppServerTests {
    private let document = #"{"categories":[]}"#

    private static let sends: [SendText] = {
        var world = World(steady: .shop, seed: 5, installs: 200, from: Timestamp(microseconds: 1_795_167_010_000_000))
        for _ in 0..<300 { world.push() }
        return world.takeSends()
    }()

    private func taken(_ accepted: Int, duplicate: Int = 0) -> Response {
        Response(
            status: 200,
            body: Array(#"{"accepted":\#(accepted),"duplicate":\#(duplicate),"rejected":0,"results":[]}"#.utf8))
    }

    @Test("puts its categories and posts its sends with its key, and waits while the server has no time")
    func tells() throws {
        let server = try ScriptedServer([
            Response(status: 503, headers: [("Retry-After", "0")]), Response(status: 200, body: Array("{}".utf8)),
            taken(3, duplicate: 2),
        ])
        let app = AppServer(ServerAddress(server.url), key: "key")
        try app.register(categories: document)
        let told = try app.tell(Self.sends)
        #expect(told.new == 3 && told.known == 2)
        let requests = server.requests
        #expect(requests.map(\.method) == ["PUT", "PUT", "POST"])
        #expect(requests.map(\.path) == ["/v1/categories", "/v1/categories", "/v1/sends"])
        #expect(requests.map(\.key) == ["Bearer key", "Bearer key", "Bearer key"])
        #expect(requests[0].body == document && requests[1].body == document)
        #expect(requests[2].body.hasPrefix(#"{"sends":[{"id":"#))
        // Nothing to tell asks nothing.
        _ = try app.tell([])
        #expect(server.requests.count == 3)
    }

    @Test("tells many sends in several requests") func many() throws {
        let server = try ScriptedServer([taken(200), taken(200), taken(1)])
        let all = Array(repeating: Self.sends, count: 401 / Self.sends.count + 1).joined().prefix(401)
        let told = try AppServer(ServerAddress(server.url + "/"), key: "key").tell(Array(all))
        #expect(told.new == 401 && told.known == 0)
        #expect(server.requests.map { $0.body.split(separator: #""sent_at""#).count - 1 } == [200, 200, 1])
    }

    @Test("says what is wrong with its key, and with a server that knows nothing of it")
    func refusals() throws {
        let problem = Array(#"{"detail":"It is a write key."}"#.utf8)
        for (answer, words) in [
            (Response(status: 403, body: problem), "does not accept the server key (403). It is a write key."),
            (Response(status: 401), "does not accept the server key (401)"),
            (Response(status: 404), "has no /v1/categories (404)"), (Response(status: 422, body: problem), "(422)"),
        ] {
            let server = try ScriptedServer([answer])
            let app = AppServer(ServerAddress(server.url), key: "key")
            let error = #expect(throws: PostingError.self) { try app.register(categories: document) }
            #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
        }
        // One that rejects a send of ours, and one that is something else.
        for body in [#"{"accepted":0,"duplicate":0,"rejected":1,"results":[]}"#, "hello"] {
            let server = try ScriptedServer([Response(status: 200, body: Array(body.utf8))])
            let app = AppServer(ServerAddress(server.url), key: "key")
            #expect(throws: PostingError.stranger) { try app.tell(Array(Self.sends.prefix(1))) }
        }
    }
}
