import Foundation
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
    private let scratch = TemporaryDirectory()

    private func makePair(_ name: String = "a") throws -> HTTPServerConfiguration.TLS {
        let pair = HTTPServerConfiguration.TLS(certificate: scratch(name + ".crt"), privateKey: scratch(name + ".key"))
        let result = try Self.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", pair.privateKey, "-out", pair.certificate,
        ])
        #expect(result.status == 0, "\(result.output)")
        return pair
    }

    private static func run(_ command: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private func curl(_ server: TestServer, _ arguments: String..., path: String) throws -> String {
        try Self.run(["curl", "-sk", "--max-time", "20"] + arguments + ["https://127.0.0.1:\(server.port)\(path)"])
            .output
    }

    @Test("requests with and without body, parked and refused, are answered through TLS")
    func serves() throws {
        let server = try TestServer(tls: makePair())
        #expect(try curl(server, path: "/hello") == "hello")
        #expect(try curl(server, "--data-binary", "abc", path: "/thread-echo") == "abc")
        #expect(try curl(server, path: "/thread") == "later")
        let large = String(repeating: "a", count: 100_000)
        #expect(try curl(server, "--data-binary", large, path: "/count") == "100000")
        #expect(try curl(server, "--data-binary", large, "-w", " %{http_code}", path: "/deny") == "who are you? 401")
        #expect(
            try curl(
                server, "-H", "Content-Length: 5", "-H", "Transfer-Encoding: chunked", "--data-binary", "abcde", "-w",
                " %{http_code}", path: "/echo"
            ).hasSuffix(" 400"))
    }

    /// Sends what a command prints through TLS, and gives what comes back until the server ends the connection.
    private static func exchange(_ server: TestServer, _ shell: String, _ options: String = "") throws -> String {
        try Self.run([
            "sh", "-c",
            "\(shell) | timeout 60 openssl s_client -quiet \(options) -connect 127.0.0.1:\(server.port) 2>&1",
        ]).output
    }

    @Test("408 and 413 reach a client through TLS, and what is no HTTP its 400")
    func lastWords() throws {
        let server = try TestServer(tls: makePair()) {
            $0.bodyStallTimeout = 0.3
            $0.discardLimit = 1 << 20
        }
        let head = #"printf 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\nabc' "#
        #expect(try Self.exchange(server, head + "9").contains("HTTP/1.1 408 "))
        #expect(try Self.exchange(server, head + "90000000").contains("HTTP/1.1 413 "))
        #expect(try Self.exchange(server, #"printf 'GARBAGE\r\n'"#).contains("HTTP/1.1 400 "))
        let counts = server.counts { $0.connectionsOpen == 0 && $0.exchangesAlive == 0 }
        #expect(counts.answers == [408: 1, 413: 1, 400: 1] && counts.connectionsCut == 0)
        #expect(server.bodies.withLock { $0.isEmpty })
    }

    @Test(
        "only TLS 1.2 and up, only ciphers that authenticate and keep what was said secret for ever",
        arguments: [
            ("-tls1_1 -cipher ALL:@SECLEVEL=0", false), ("-tls1 -cipher ALL:@SECLEVEL=0", false),
            ("-tls1_2 -cipher AES128-GCM-SHA256", false), ("-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA256", false),
            ("-tls1_2 -cipher ECDHE-ECDSA-AES256-SHA", false), ("-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256", true),
            ("-tls1_2 -cipher ECDHE-ECDSA-CHACHA20-POLY1305", true), ("-tls1_2", true), ("-tls1_3", true),
            ("-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256", false),
        ])
    func ciphers(options: String, isServed: Bool) throws {
        let server = try TestServer(tls: makePair())
        let said = try Self.exchange(server, #"printf 'GET /hello HTTP/1.0\r\n\r\n'"#, options)
        #expect(said.contains("hello") == isServed, "\(said)")
    }

    @Test("nothing of a session is kept that would open it later")
    func noTickets() throws {
        let server = try TestServer(tls: makePair())
        for version in ["-tls1_2", "-tls1_3"] {
            let said = try Self.run([
                "sh", "-c",
                // It stays until the server ends the connection, as it does after an answer to HTTP/1.0.
                "printf 'GET /hello HTTP/1.0\\r\\n\\r\\n' | timeout 60 openssl s_client -ign_eof \(version) "
                    + "-connect 127.0.0.1:\(server.port) 2>&1",
            ]).output
            #expect(said.contains("hello") && !said.contains("TLS session ticket:"), "\(said)")
        }
    }

    @Test("a certificate that changes is served from then on, by itself or when asked; a broken one changes nothing")
    func renewal() throws {
        let pair = try makePair("served")
        let server = try TestServer(tls: pair)
        func name() throws -> String {
            let said = try Self.run([
                "sh", "-c",
                "openssl s_client -connect 127.0.0.1:\(server.port) </dev/null 2>/dev/null | openssl x509 -noout -serial",
            ]).output
            return said
        }
        let first = try name()
        #expect(first.hasPrefix("serial="))
        let manager = FileManager.default
        func install(_ other: HTTPServerConfiguration.TLS) throws {
            for (from, to) in [(other.certificate, pair.certificate), (other.privateKey, pair.privateKey)] {
                try manager.copyItem(atPath: from, toPath: to + ".new")
                #expect(rename(to + ".new", to) == 0)
            }
        }
        let serial = try makePair("second")
        try install(serial)
        #expect(try server.server.readCertificateAnew())
        let second = try name()
        #expect(second != first)
        try manager.removeItem(atPath: pair.certificate)
        #expect(manager.createFile(atPath: pair.certificate, contents: Data("none".utf8)))
        #expect(throws: HTTPServerError.self) { try server.server.readCertificateAnew() }
        #expect(try name() == second)
        try manager.removeItem(atPath: pair.certificate)
        try install(try makePair("third"))
        #expect(try eventually { try name() != second })
        #expect(try curl(server, path: "/hello") == "hello")
    }

    @Test("plain HTTP and garbage on the TLS port harm nobody, and a handshake that never ends is cut")
    func garbage() throws {
        let server = try TestServer(tls: makePair()) { $0.idleTimeout = 1 }
        let plain = try server.client()
        plain.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try? plain.answer()
        let noise = try server.client()
        noise.send((0..<4096).map { _ in UInt8.random(in: 0...255) })
        let silent = try server.client()
        let half = try server.client()
        half.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01])
        #expect(silent.isEnded())
        #expect(half.isEnded())
        #expect(try curl(server, path: "/hello") == "hello")
        let counts = server.counts { $0.connectionsOpen == 0 }
        #expect(counts.connectionsOpen == 0)
    }

    /// What a client of TLS 1.2 says first: ECDHE, with AES-GCM and a P-256 key.
    private static let clientHello: [UInt8] = {
        let extensions: [UInt8] =
            [0x00, 0x0A, 0x00, 0x04, 0x00, 0x02, 0x00, 0x17] + [0x00, 0x0B, 0x00, 0x02, 0x01, 0x00]
            + [0x00, 0x0D, 0x00, 0x04, 0x00, 0x02, 0x04, 0x03]
        let hello: [UInt8] =
            [0x03, 0x03] + [UInt8](repeating: 7, count: 32) + [0x00, 0x00, 0x02, 0xC0, 0x2B, 0x01, 0x00]
            + [0x00, UInt8(extensions.count)] + extensions
        return [0x16, 0x03, 0x01, 0x00, UInt8(hello.count + 4), 0x01, 0x00, 0x00, UInt8(hello.count)] + hello
    }()

    @Test("handshakes that come together are made one at a time, and who is connected has his turn between them")
    func handshakesInTurns() throws {
        let server = try TestServer(tls: makePair())
        let newcomers = try (0..<64).map { _ in try server.client() }
        _ = server.counts { $0.connectionsOpen == 64 }
        // One request a round, some on each side of the moment at which the newcomers are heard.
        let paths = ["/block", "/hello", "/hello", "/hello", "/hello", "/block"]
        let requests = paths.map { "GET \($0) HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" }.joined()
        let last = "GET /hello HTTP/1.0\\r\\n\\r\\n"
        let connected = Worker(name: "connected") {
            _ = try? TLSTests.exchange(server, "printf '\(requests)\(last)'")
        }
        #expect(server.isBlocked(after: 1))
        for newcomer in newcomers { newcomer.send(TLSTests.clientHello) }
        server.gate.withLockNotifying { $0 += 1 }
        #expect(server.isBlocked(after: 6))
        #expect(newcomers.filter(\.hasUnread).count <= 12)
        server.gate.withLockNotifying { $0 += 1 }
        #expect(eventually { newcomers.allSatisfy(\.hasUnread) })
        connected.join()
    }

    @Test("files that are missing, no PEM, or of two pairs are clear errors")
    func badFiles() throws {
        let (one, two) = (try makePair("one"), try makePair("two"))
        let missing = HTTPServerConfiguration.TLS(certificate: "/nowhere/a.crt", privateKey: one.privateKey)
        #expect(
            throws: HTTPServerError.unreadable(
                path: "/nowhere/a.crt", what: "certificate", reason: "No such file or directory")
        ) { try TestServer(tls: missing) }
        let mixed = HTTPServerConfiguration.TLS(certificate: one.certificate, privateKey: two.privateKey)
        let swapped = HTTPServerConfiguration.TLS(certificate: one.privateKey, privateKey: one.certificate)
        for pair in [mixed, swapped] {
            do {
                _ = try TestServer(tls: pair)
                Issue.record("a server started with \(pair)")
            } catch {
                guard case .tlsRefused(_, _, let reason)? = error as? HTTPServerError else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(!reason.isEmpty)
                #expect("\(error)".contains("cannot be used"))
            }
        }
    }
}
