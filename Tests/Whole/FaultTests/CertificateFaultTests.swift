import Foundation
import TestSupport
import Testing

@Suite("An expired certificate")
struct CertificateFaultTests {
    private let scratch = TemporaryDirectory()

    /// Makes a certificate that is valid for ten days from a day on.
    private func make(_ name: String, from day: String? = nil) throws {
        let clock = day.map { ["faketime", "\($0) 12:00:00"] } ?? []
        let ended = try ChildProcess.run(
            clock + [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "10",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", scratch(name + ".key"),
                "-out", scratch(name + ".crt"),
            ])
        #expect(ended.status == 0, "\(ended)")
    }

    /// Puts another pair in the place of the served one.
    private func install(_ name: String) {
        for kind in [".crt", ".key"] { #expect(rename(scratch(name + kind), scratch("served" + kind)) == 0) }
    }

    /// What a client says that trusts this certificate.
    private func ask(_ service: RunningService) throws -> ChildProcess.Ended {
        try ChildProcess.run([
            "curl", "-sS", "--cacert", scratch("served.crt"), "--max-time", "20",
            "https://localhost:\(service.port)/healthz",
        ])
    }

    @Test("is replaced in place: clients are served again, without a restart, and open connections stay")
    func renewed() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try make("served", from: "2026-01-01")
        let service = try Bellwether(database).serve(
            [
                "--tls-certificate", scratch("served.crt"), "--tls-key", scratch("served.key"), "--metrics-listen",
                "127.0.0.1:0",
            ],
            waitsUntilReady: false)
        let inside = HTTPClient(port: try #require(UInt16(service.addresses[1].split(separator: ":").last ?? "")))
        func metric(_ name: String) throws -> Double? { try Metrics.value(name, in: inside.get("/metrics").body) }
        let expired = try ask(service)
        #expect(expired.status == 60 && expired.messages.contains("expired"), "\(expired)")
        #expect(service.log.contains("the certificate has expired"))
        let expiry = "bellwether_certificate_expiry_timestamp_seconds"
        // 2026-01-11 12:00:00 UTC, whatever the zone of this machine.
        #expect(abs(try #require(try metric(expiry)) - 1_768_132_800) < 86_400)

        // Somebody who does not look at it is connected, and asks again when all is over.
        func request(_ more: String = "") -> String { #"printf 'GET /healthz HTTP/1.1\r\nHost: b\r\n\#(more)\r\n'"# }
        let connected = try ChildProcess([
            "sh", "-c",
            """
            {
                \(request()); until [ -e '\(scratch("over"))' ]; do sleep 0.05; done
                \(request(#"Connection: close\r\n"#))
            } |
                openssl s_client -quiet -connect localhost:\(service.port) 2>/dev/null
            """,
        ])
        #expect(eventually { connected.output.contains("200 OK") })

        // A renewal that went wrong changes nothing.
        for kind in [".crt", ".key"] {
            try "nonsense".write(toFile: scratch("bad" + kind), atomically: false, encoding: .utf8)
        }
        install("bad")
        #expect(eventually { service.log.contains("could not be loaded: the old one stays in use") })
        service.process.signal(SIGHUP)
        #expect(eventually { service.log.contains("SIGHUP: the old certificate stays in use") })
        #expect(try inside.get("/healthz").status == 200)

        try make("renewed")
        install("renewed")
        #expect(try eventually { try ask(service).status == 0 })
        #expect(try #require(try metric(expiry)) > Date().timeIntervalSince1970 + 8 * 86_400)
        try "".write(toFile: scratch("over"), atomically: false, encoding: .utf8)
        let all = try connected.wait()
        #expect(all.output.components(separatedBy: "200 OK").count == 3, "\(all)")
        #expect(try service.stop() == 0)
    }
}

/// The service's metrics.
private enum Metrics {
    static func value(_ name: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
