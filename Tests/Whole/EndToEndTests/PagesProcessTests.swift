import Foundation
import Glibc
import TestSupport
import Testing

/// What becomes of the pages beside a service is no matter of the events, and the other way round.
@Suite("The process of the pages") struct PagesProcessTests {
    private struct Beside {
        let service: RunningService
        let pages: HTTPClient

        init(_ bellwether: Bellwether, _ words: [String] = []) throws {
            service = try bellwether.serve(["--look", "127.0.0.1:0"] + words)
            let process = service.process
            #expect(eventually { process.messages.contains("\"looking\"") })
            let said = try #require(process.messages.firstMatch(of: /"looking","address":"[0-9.]+:([0-9]+)"/))
            pages = HTTPClient(port: try #require(UInt16(said.1)))
        }

        /// The process that serves the pages.
        var child: pid_t? {
            ProcessTable.family(of: service.process.id).first { ProcessTable.commandLine(of: $0).contains("look") }
        }

        func isShown(_ path: String = "/") throws -> Bool {
            try pages.get(path, headers: ["Host": "localhost"]).status == 200
        }
    }

    @Test("if it ends, events are accepted as before, and the pages come back at the same address") func killed() throws
    {
        try withExtendedLifetime(try Shop("shop")) { shop in
            let beside = try Beside(shop.bellwether)
            defer { _ = try? beside.service.stop() }
            #expect(try eventually { try beside.isShown() })
            let first = try #require(beside.child)
            for (place, signal) in [SIGKILL, SIGTERM].enumerated() {
                let child = try #require(beside.child)
                kill(child, signal)
                let at = ISO8601DateFormatter().string(from: Date())
                let answer = try beside.service.client().post(Wire.envelope(Wire.event(at: at)), key: shop.app.secret)
                #expect(try answer.results.accepted == 1)
                #expect(eventually { beside.child.map { $0 != child } ?? false })
                #expect(try eventually { try beside.isShown() })
                let metrics = try beside.service.client().get("/metrics").body
                #expect(metrics.contains("\nbellwether_pages_restarts_total \(place + 1)\n"), "\(metrics)")
                #expect(metrics.contains("\nbellwether_pages_up 1\n"))
            }
            #expect(beside.service.log.contains("\"why\":\"signal SIGKILL\""), "\(beside.service.log)")
            #expect(beside.child != first && beside.service.process.isRunning)
        }
    }

    @Test("an operator is told that it ended, how, and that it keeps ending") func told() throws {
        try withExtendedLifetime(try Shop("shop")) { shop in
            let beside = try Beside(shop.bellwether)
            defer { _ = try? beside.service.stop() }
            #expect(try beside.service.client().get("/metrics").body.contains("\nbellwether_pages_last_exit ") == false)
            #expect(try !shop.bellwether.trusted("status").contains("pages"))
            #expect(try !shop.bellwether.run("doctor").output.contains("pages"))
            // A fault's signal from outside would be survived: Swift's handler returns, and nothing faults again.
            for (place, signal) in [(1, SIGTERM), (2, SIGKILL), (3, SIGKILL)] {
                #expect(eventually { beside.child != nil })
                kill(try #require(beside.child), signal)
                let times = place == 1 ? "ended once" : "ended \(place) times"
                #expect(
                    try eventually { try shop.bellwether.trusted("status").contains(times) },
                    "\(beside.service.log)")
                let doctor = try shop.bellwether.run("doctor").output.split(separator: "\n").first {
                    $0.contains(" pages ")
                }
                let line = String(try #require(doctor))
                #expect(line.hasPrefix(place < 3 ? "WARN" : "FAIL") && line.contains(times), "\(line)")
                #expect(line.contains("To do: see"), "\(line)")
            }
            #expect(try shop.bellwether.trusted("status").contains("signal SIGKILL. Run: bellwether doctor"))
            let status = try shop.bellwether.trusted("status", "--format", "json")
            #expect(status.contains(#""within_a_day":3"#) && status.contains(#""why":"signal SIGKILL""#), "\(status)")
            let metrics = try beside.service.client().get("/metrics").body
            #expect(metrics.contains("\nbellwether_pages_last_exit \(128 + SIGKILL)\n"), "\(metrics)")
        }
    }

    @Test("it ends with the service, even with one that was killed, and leaves nothing behind") func ends() throws {
        try withExtendedLifetime(try Shop("shop")) { shop in
            for isKilled in [false, true] {
                let beside = try Beside(shop.bellwether)
                let child = try #require(beside.child)
                if isKilled { try beside.service.kill() } else { #expect(try beside.service.stop() == 0) }
                #expect(eventually { !ProcessTable.isAlive(child) })
            }
        }
    }

    @Test("no command line has the password of the database") func password() throws {
        try withExtendedLifetime(try Shop("shop")) { shop in
            let url = try shop.database.url()
            let beside = try Beside(Bellwether(database: url))
            defer { _ = try? beside.service.stop() }
            let words = ProcessTable.commandLine(of: try #require(beside.child))
            #expect(words.starts(with: ["bellwether", "look", "--listen"]) && !words.contains(url), "\(words)")
            #expect(ProcessTable.openFiles(of: try #require(beside.child)) ?? .max < 64)
        }
    }

    @Test("on an embedded database both share it, and the last of them stops it") func embedded() throws {
        let directory = TemporaryDirectory()
        let bellwether = Bellwether(data: directory("data"))
        let beside = try Beside(bellwether)
        #expect(try eventually { try beside.isShown() })
        let postmaster = try #require(bellwether.postmaster)
        #expect(try beside.service.stop() == 0)
        #expect(eventually { !ProcessTable.isAlive(postmaster) })
    }
}
