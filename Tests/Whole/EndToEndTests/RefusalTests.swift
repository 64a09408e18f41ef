import Foundation
import Postgres
import TestSupport
import Testing

@Suite("What is refused, and in which order")
struct RefusalTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    /// One thing that is wrong with a request, in the order in which it is looked for.
    enum Fault: Int, CaseIterable {
        case path, method, key, mediaType, size, body

        var status: Int {
            switch self {
            case .path: 404
            case .method: 405
            case .key: 401
            case .mediaType: 415
            case .size: 413
            case .body: 400
            }
        }
    }

    @Test("the first that applies of path, method, key, media type, size and body decides", arguments: Fault.allCases)
    func precedence(_ first: Fault) throws {
        // Everything after it is wrong as well.
        func has(_ fault: Fault) -> Bool { fault.rawValue >= first.rawValue }
        let answer = try shared.service.client().send(
            has(.method) ? "PUT" : "POST", has(.path) ? "/v1/event" : "/v1/events",
            headers: [
                "Authorization": has(.key) ? "Bearer bww_wrong" : "Bearer \(app.secret)",
                "Content-Type": has(.mediaType) ? "text/plain" : "application/json",
            ], body: [UInt8](repeating: 0x7B, count: has(.size) ? 1024 * 1024 + 1 : 10))
        #expect(answer.status == first.status && answer.problem != nil, "\(answer)")
    }

    @Test(
        "a body that cannot be an envelope gets 400 and the code that says why",
        arguments: [
            ("", "not_json"), ("{", "not_json"), (#"{"events":[]} x"#, "not_json"), (#"{"events":[01]}"#, "not_json"),
            ("[]", "not_an_object"), ("null", "not_an_object"), ("{}", "missing_events"),
            (#"{"events":{}}"#, "missing_events"), (#"{"events":null}"#, "missing_events"),
            (#"{"source":[],"events":[]}"#, "invalid_source"), (#"{"source":"ios","events":[]}"#, "invalid_source"),
        ])
    func unreadable(_ body: String, _ code: String) throws {
        let answer = try shared.post(body, app)
        #expect(answer.status == 400 && answer.problem?.code == code, "\(answer)")
    }

    @Test("a body that is no UTF-8 or does not unpack gets 400")
    func broken() throws {
        let client = shared.service.client()
        let text = Array(#"{"events":["#.utf8)
        #expect(try client.post(text + [0x22, 0xFF, 0x22, 0x5D, 0x7D], key: app.secret).problem?.code == "not_json")
        let packed = try gzip(Wire.envelope(Wire.event()))
        for bytes in [text, Array(packed.dropLast(4)), packed + [0]] {
            let answer = try client.post(bytes, key: app.secret, headers: ["Content-Encoding": "gzip"])
            #expect(answer.status == 400 && answer.problem?.code == "not_unpackable", "\(answer)")
        }
    }

    @Test("without a key, or with one that nobody has, 401; with a revoked or a server key, 403")
    func keys() throws {
        let client = shared.service.client()
        let bellwether = try shared.bellwether
        let body = Wire.envelope(Wire.event())
        for (headers, code) in [
            ([:], "missing_key"), (["Authorization": "Basic abc"], "missing_key"),
            (["Authorization": "Bearer"], "missing_key"),
            (["Authorization": "Bearer bww_nobody"], "unknown_key"),
        ] as [([String: String], String)] {
            let answer = try client.post(body, key: nil, headers: headers)
            #expect(answer.status == 401 && answer.problem?.code == code, "\(answer)")
            #expect(answer["www-authenticate"]?.hasPrefix("Bearer") == true)
        }
        let server = try bellwether.trusted("app", "key", "add", app.slug, "--server").dropLast()
        let wrong = try client.post(body, key: String(server))
        #expect(wrong.status == 403 && wrong.problem?.code == "wrong_key_kind")
        let closed = try bellwether.trusted("app", "key", "add", app.slug, "--name", "closed").dropLast()
        _ = try bellwether.trusted("app", "key", "revoke", app.slug, "closed")
        // The service may have read all keys while this one was open: then it stops within some seconds.
        let isClosed = try eventually {
            let revoked = try client.post(body, key: String(closed))
            return revoked.status == 403 && revoked.problem?.code == "revoked_key"
        }
        #expect(isClosed)
        for field in ["bearer \(app.secret)", "Bearer  \(app.secret) \t "] {
            #expect(try client.post(body, key: nil, headers: ["Authorization": field]).status == 200, "\(field)")
        }
    }

    @Test(
        "paths that are none get 404, and wrong methods 405 with what is allowed",
        arguments: [
            ("GET", "/", nil), ("POST", "/v1/events/", nil), ("GET", "/V1/events", nil), ("GET", "/v1/events", "POST"),
            ("DELETE", "/v1/events", "POST"), ("OPTIONS", "/v1/events", "POST"), ("POST", "/healthz", "GET, HEAD"),
            ("PUT", "/metrics", "GET, HEAD"), ("POST", "/openapi.yaml", "GET, HEAD"),
        ] as [(String, String, String?)])
    func paths(_ method: String, _ path: String, _ allow: String?) throws {
        let answer = try shared.service.client().send(method, path)
        #expect(answer.status == (allow == nil ? 404 : 405) && answer["allow"] == allow, "\(answer)")
        #expect(answer.problem?.code == (allow == nil ? "unknown_path" : "method_not_allowed"))
    }

    @Test(
        "only JSON in UTF-8, plain or gzip, is a media type of ours",
        arguments: [
            ("", "", "unsupported_media_type"), ("text/json", "", "unsupported_media_type"),
            ("application/json; charset=iso-8859-1", "", "unsupported_media_type"),
            ("application/json", "br", "unsupported_encoding"),
            ("application/json", "gzip, gzip", "unsupported_encoding"), ("application/json", "identity", nil),
            ("application/json", "", nil), ("Application/JSON; charset=UTF-8", "", nil),
        ] as [(String, String, String?)])
    func media(_ type: String, _ coding: String, _ code: String?) throws {
        let body = Wire.envelope(Wire.event())
        let answer = try shared.post(body, app, headers: ["Content-Type": type, "Content-Encoding": coding])
        #expect(answer.status == (code == nil ? 200 : 415) && answer.problem?.code == code, "\(answer)")
    }

    @Test("sizes up to the limit are taken, and one more gets 413")
    func sizes() throws {
        let client = shared.service.client()
        let empty = #"{"events":[]}"#
        func padded(to size: Int) -> String { empty + String(repeating: " ", count: size - empty.utf8.count) }
        #expect(try client.post(padded(to: 1024 * 1024), key: app.secret).status == 200)
        let long = try client.post(padded(to: 1024 * 1024 + 1), key: app.secret)
        #expect(long.status == 413 && long.problem?.code == "body_too_large")
        let coding = ["Content-Encoding": "gzip"]
        let fits = try gzip(padded(to: 8 * 1024 * 1024))
        #expect(try client.post(fits, key: app.secret, headers: coding).status == 200)
        let bomb = try client.post(try gzip(padded(to: 8 * 1024 * 1024 + 1)), key: app.secret, headers: coding)
        #expect(bomb.status == 413 && bomb.problem?.code == "unpacked_too_large")
        func events(_ count: Int) -> String {
            Wire.envelope((0..<count).map { _ in Wire.event() })
        }
        #expect(try client.post(events(1000), key: app.secret).results.accepted == 1000)
        let many = try client.post(events(1001), key: app.secret)
        #expect(many.status == 413 && many.problem?.code == "too_many_events")
        let rows: Int64 = try shared.database.value("SELECT count(*) FROM log.event WHERE app = \(app.id)")
        #expect(rows == 1000)
    }

    @Test("an error that is answered before the body has ended reaches a client that sends first and reads later")
    func earlyAnswer() throws {
        let client = try RawClient(port: shared.service.port)
        let size = 12 << 20
        client.send("POST /v1/events HTTP/1.1\r\nHost: b\r\nContent-Length: \(size)\r\n\r\n")
        #expect(client.send([UInt8](repeating: 0x20, count: size)))
        #expect(try client.answer().status == 401)
    }

    @Test("gzip and chunked bodies are taken as they are")
    func codings() throws {
        let envelope = Wire.envelope(Wire.event(), Wire.event())
        let client = shared.service.client()
        let packed = try gzip(envelope)
        let first = try client.post(packed, key: app.secret, headers: ["Content-Encoding": "gzip"]).results
        #expect(first.accepted == 2)
        let raw = try RawClient(port: shared.service.port)
        raw.send(
            "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(app.secret)\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        let bytes = Array(envelope.utf8)
        for start in stride(from: 0, to: bytes.count, by: 37) {
            let piece = bytes[start..<min(start + 37, bytes.count)]
            raw.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8))
        }
        raw.send("0\r\n\r\n")
        #expect(try raw.answer().results.duplicate == 2)
    }

    private func gzip(_ text: String) throws -> [UInt8] {
        let scratch = TemporaryDirectory()
        try text.write(toFile: scratch("body"), atomically: false, encoding: .utf8)
        #expect(try ChildProcess.run(["gzip", scratch("body")]).status == 0)
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: scratch("body.gz"))))
    }
}
