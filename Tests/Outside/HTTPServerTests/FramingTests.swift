import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

/// What two readers of the same bytes could disagree about is a request to neither.
@Suite("Where a request begins and ends")
struct FramingTests {
    private static let next = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let post = "POST /echo HTTP/1.1\r\nHost: a\r\n"

    static let refused: [String] = [
        // Lines that end otherwise than with CR and LF.
        "GET /hello HTTP/1.1\nHost: a\n\n", "GET /hello HTTP/1.1\r\nHost: a\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\n\n",
        "GET /hello HTTP/1.1\rHost: a\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
        "GET /hello HTTP/1.1\r\r\nHost: a\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\r\n\r\n", "\n" + next,
        "\r" + next,
        // More empty lines than anybody has before a request.
        "\r\n\r\n\r\n" + next, String(repeating: "\r\n", count: 30_000) + next,
        // Fields without a name, with another name than it seems, or that go on.
        "GET /hello HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", "GET /hello HTTP/1.1\r\n: x\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\n:\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n",
        "GET /hello HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX\u{e9}: y\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX(: y\r\n\r\n",
        // Control characters.
        "GET /hello HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", "GET /hello\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        post + "Content-Length: 3\0\r\n\r\nabc", post + "Content-Length: 3\0, 5\r\n\r\nabc",
        post + "Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: \u{b}chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding:\u{c}chunked\r\n\r\n0\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\u{7f}\r\n\r\n",
        // Lengths that are none, or several.
        post + "Content-Length: x\r\n\r\nabc", post + "Content-Length: +3\r\n\r\nabc",
        post + "Content-Length: 3 3\r\n\r\nabc",
        post + "Content-Length: 0x3\r\n\r\nabc", post + "Content-Length:\r\n\r\nabc",
        post + "Content-Length: -0\r\n\r\n",
        post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", post + "Content-Length: 3,3\r\n\r\nabc",
        post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        post + "Content-Length: 3.0\r\n\r\nabc",
        post + "Content-Length: 18446744073709551619\r\n\r\nabc",
        post + "Content-Length: \u{661}\r\n\r\na",
        // Encodings that are not chunked, or not only.
        post + "Transfer-Encoding: identity\r\n\r\n", post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chun\u{212A}ed\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding:\r\n\r\n", post + "Transfer-Encoding: chunked;x\r\n\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // Chunks that are none.
        post + "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3\rabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", post + "Transfer-Encoding: chunked\r\n\r\n\r\nabc",
        post + "Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3 x\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3;\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3;a\0b\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n0\r\n: x\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n", post + "Transfer-Encoding: chunked\r\n\r\n0\n\n",
        post + "Transfer-Encoding: chunked\r\n\r\n3;" + String(repeating: "x", count: 100_000) + "\r\nabc\r\n0\r\n\r\n",
        post + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "X: y\r\n", count: 20_000) + "\r\n",
        // Request lines that are none.
        "GARBAGE\r\n", "GARBAGE\r\n\r\n", "GET /hello\r\n\r\n", "GET  /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /hello  HTTP/1.1\r\nHost: a\r\n\r\n", "GET /hello HTTP/1.1 \r\nHost: a\r\n\r\n",
        " GET /hello HTTP/1.1\r\n\r\n",
        "GET\t/hello\tHTTP/1.1\r\nHost: a\r\n\r\n", "GET /hello HTTP/9.9\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/2.0\r\n\r\n",
        "GET /hello http/1.1\r\nHost: a\r\n\r\n", "GET /hello HTTP/1.10\r\nHost: a\r\n\r\n",
        "GET /he\u{e9}llo HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "GET hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GE(T /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n",
        // Hosts.
        "GET /hello HTTP/1.1\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a@b\r\n\r\n", "GET /hello HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    ]

    @Test("what is no request gets one 400 and the end, and what follows it is not run", arguments: refused)
    func isRefused(bytes: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(bytes + FramingTests.next)
        let answer = try client.answer()
        #expect(answer.status == 400 && answer["connection"] == "close" && answer["x-fault"] == "yes")
        #expect(client.isEnded())
        #expect(server.bodies.withLock { $0.isEmpty })
        #expect(server.server.counts.answers == [400: 1])
    }

    static let taken: [(String, String)] = [
        (post + "Content-Length: 3 \r\n\r\nabc", "abc"), (post + "content-length:\t3\t\r\n\r\nabc", "abc"),
        (post + "Content-Length: 0003\r\n\r\nabc", "abc"),
        (post + "Transfer-Encoding: chunked \r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"),
        (post + "Transfer-Encoding:\tCHUNKED\t \r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc"),
        (
            post + "Transfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\na\r\n02 ; c\r\nbc\r\n000\r\nT: x\r\nU: \r\n\r\n",
            "abc"
        ),
        ("\r\n\r\n" + post + "Content-Length: 3\r\n\r\nabc", "abc"),
        (post + "X:\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        (post + "X: a\tb \u{e9}\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        ("POST /echo HTTP/1.1\r\nHost:\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        ("POST /echo HTTP/1.1\r\nHost: [::1]:8080\r\nContent-Length: 3\r\n\r\nabc", "abc"),
        ("GET /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "hello"),
        ("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "hello"),
    ]

    @Test(
        "what is one request is that one, in one piece and byte by byte, and the next one is the next", arguments: taken
    )
    func isTaken(bytes: String, body: String) throws {
        let server = try TestServer()
        let client = try server.client()
        client.send(bytes + FramingTests.next)
        #expect(try client.answer().body == body)
        #expect(try client.answer().body == "hello")
        for byte in (bytes + FramingTests.next).utf8 { client.send([byte]) }
        #expect(try client.answer().body == body)
        #expect(try client.answer().body == "hello")
    }

    @Test("a head is refused at its first bad byte, and a line without end at its limit, without waiting for more")
    func atOnce() throws {
        let server = try TestServer { $0.idleTimeout = 600 }
        for (bytes, status) in [
            ("\u{16}\u{3}\u{1}", 400), ("GET /\0", 400), ("GET /hello HTTP/1.1\r\nX: a\rb", 400), ("GARBAGE\r\n", 400),
            ("GET /?" + String(repeating: "a", count: 40_000), 431),
            ("GET /hello HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 40_000), 431),
        ] {
            let client = try server.client()
            client.send(bytes)
            #expect(try client.answer().status == status)
            #expect(client.isEnded())
        }
    }
}
