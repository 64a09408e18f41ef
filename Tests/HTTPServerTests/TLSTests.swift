import Foundation
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@Suite("TLS")
struct TLSTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func makePair(_ name: String = "a") throws -> HTTPServerConfiguration.TLS {
        let pair = HTTPServerConfiguration.TLS(certificate: scratch(name + ".crt"), privateKey: scratch(name + ".key"))
        let result = try run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-keyout", pair.privateKey, "-out", pair.certificate,
        ])
        #expect(result.status == 0, "\(result.output)")
        return pair
    }

    private func run(_ command: [String]) throws -> (status: Int32, output: String) {
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
        try run(["curl", "-sk", "--max-time", "20"] + arguments + ["https://127.0.0.1:\(server.port)\(path)"]).output
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

    @Test("a body that stalls under TLS is cut, and the server stops with connections open")
    func stalls() throws {
        let server = try TestServer(tls: makePair()) { $0.bodyStallTimeout = 0.3 }
        let command =
            "{ printf 'POST /echo HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 9\\r\\n\\r\\nabc'; sleep 2; } | "
            + "timeout 10 openssl s_client -quiet -connect 127.0.0.1:\(server.port)"
        let started = Deadline.now
        _ = try run(["sh", "-c", command])
        #expect(Deadline.now.nanoseconds - started.nanoseconds < 8_000_000_000)
        let counts = server.counts { $0.connectionsOpen == 0 && $0.exchangesAlive == 0 }
        #expect(counts.connectionsCut == 1)
        #expect(counts.exchangesAlive == 0)
        #expect(server.bodies.withLock { $0.isEmpty })
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
