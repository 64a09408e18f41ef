import BellwetherVersion
import Foundation
import HTTPClient
import HTTPServer
import ServiceRuntime
import Testing

@Suite("An HTTP connection")
struct HTTPConnectionTests {
    private func post(
        _ body: String = "", to url: String, headers: [(String, String)] = [], on connection: HTTPConnection? = nil
    ) throws -> HTTPResponse {
        try (connection ?? HTTPConnection(usesProxy: false))
            .send(HTTPRequest(url: url, headers: headers, body: Array(body.utf8)))
    }

    @Test("posts headers and body, asks for no 100-continue, and gives the answer back")
    func echo() throws {
        let server = try AnsweringServer()
        let answer = try post("body", to: server.url("/echo"), headers: [("X-Said", "hello")])
        #expect(answer.status == 200)
        #expect(String(decoding: answer.body, as: UTF8.self) == "POST hello - body")
        #expect(String(decoding: try post(to: server.url("/echo")).body, as: UTF8.self) == "POST - - ")
        let large = String(repeating: "a", count: 3 << 20)
        #expect(try post(large, to: server.url("/echo")).body.count == 9 + large.utf8.count)
    }

    @Test("puts what is to be put, and posts the next again over the same connection") func put() throws {
        let server = try AnsweringServer()
        let connection = HTTPConnection(usesProxy: false)
        for method in [HTTPRequest.Method.post, .put, .post] {
            var request = HTTPRequest(url: server.url("/echo"), body: Array("body".utf8))
            request.method = method
            let answer = try connection.send(request)
            #expect(String(decoding: answer.body, as: UTF8.self) == "\(method.rawValue) - - body")
        }
        #expect(server.connections == 1)
    }

    @Test("says who it is, with its version") func agent() throws {
        let server = try AnsweringServer()
        let answer = try post(to: server.url("/agent"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "bellwether/\(BellwetherVersion.number)")
    }

    @Test("keeps its connection, whatever was answered")
    func keepsAlive() throws {
        let server = try AnsweringServer()
        let connection = HTTPConnection(usesProxy: false)
        for path in ["/echo", "/away", "/elsewhere", "/large", "/echo"] {
            _ = try post("x", to: server.url(path), on: connection)
        }
        #expect(server.connections == 1)
    }

    @Test("an error status is an answer, with Retry-After read from it")
    func retryAfter() throws {
        let server = try AnsweringServer()
        let answer = try post(to: server.url("/away"))
        #expect(answer.status == 503)
        #expect(answer.retryAfter == 7)
        #expect(answer.header("x-several") == "a b")
        #expect(answer.body == Array("later".utf8))
        #expect(try post(to: server.url("/echo")).retryAfter == nil)
    }

    @Test("does not follow a redirect")
    func redirect() throws {
        let server = try AnsweringServer()
        let answer = try post(to: server.url("/elsewhere"))
        #expect(answer.status == 302)
        #expect(answer.header("Location") == "/echo")
    }

    @Test("where nobody listens, it asks whether the server is running")
    func refused() throws {
        // A port that was free a moment ago.
        let port = try AnsweringServer().port
        let url = "http://127.0.0.1:\(port)/v1/events"
        #expect(throws: HTTPClientError.noConnection(url)) { try post(to: url) }
        #expect("\(HTTPClientError.noConnection(url))" == "no connection: is the server running at \(url)?")
        #expect(HTTPClientError.noConnection(url).mayPass)
    }

    @Test("does not wait longer than its limit, and can be used after that")
    func timeLimit() throws {
        let server = try AnsweringServer()
        var limits = HTTPConnection.Limits()
        limits.request = 0.3
        let connection = HTTPConnection(limits: limits, usesProxy: false)
        // The server never answers.
        #expect(throws: HTTPClientError.timedOut(server.url("/park"))) {
            try post(to: server.url("/park"), on: connection)
        }
        #expect(try post("x", to: server.url("/echo"), on: connection).status == 200)
    }

    @Test("reads no more of an answer than its limit")
    func boundedAnswer() throws {
        let server = try AnsweringServer()
        var limits = HTTPConnection.Limits()
        limits.answer = 1000
        let connection = HTTPConnection(limits: limits, usesProxy: false)
        #expect(throws: HTTPClientError.answerTooLarge(limit: 1000)) {
            try post(to: server.url("/large"), on: connection)
        }
        #expect(try post("x", to: server.url("/echo"), on: connection).status == 200)
    }

    @Test("what answers with something else than HTTP is named as that, and asking again would not help")
    func noHTTP() throws {
        for words in ["220 mail.example ESMTP\r\n", "RFB 003.008\n"] {
            let place = try GreetingPlace(words)
            let url = "http://127.0.0.1:\(place.port)/v1/events"
            let error = #expect(throws: HTTPClientError.noHTTP(url)) { try post("x", to: url) }
            #expect(error?.mayPass == false)
        }
    }

    @Test("posts to nothing but http and https", arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "http://", ""])
    func schemes(url: String) {
        #expect(throws: HTTPClientError.invalidURL(url)) { try post(to: url) }
    }

    @Test("a header that would break out of its line is refused")
    func headerInjection() throws {
        let server = try AnsweringServer()
        #expect(throws: HTTPClientError.invalidHeader("Authorization")) {
            try post(to: server.url("/echo"), headers: [("Authorization", "Bearer a\r\nX-Said: b")])
        }
    }

    @Test("speaks over a Unix socket")
    func unixSocket() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString.prefix(8))").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try AnsweringServer(listen: .unix(path: path))
        let request = HTTPRequest(url: "http://localhost/echo", body: Array("x".utf8), unixSocket: path)
        #expect(try HTTPConnection().send(request).status == 200)
        #expect(server.connections == 1)
    }

    @Test("a server whose certificate nobody vouches for is not trusted, nor one that speaks no TLS")
    func untrusted() throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let pair = HTTPServerConfiguration.TLS(
            certificate: scratch.path + "/certificate", privateKey: scratch.path + "/key")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        openssl.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", pair.privateKey, "-out", pair.certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        for server in [try AnsweringServer(tls: pair), try AnsweringServer()] {
            let error = try #require(throws: HTTPClientError.self) {
                try post(to: "https://localhost:\(server.port)/echo")
            }
            guard case .untrusted = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(!error.mayPass)
        }
    }
}
