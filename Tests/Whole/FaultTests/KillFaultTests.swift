import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// `make kills` does it a thousand times.
@Suite("Everybody is killed, again and again")
struct KillFaultTests {
    private enum Victim: CaseIterable {
        /// At a random moment.
        case service, projector, backend, postmaster
        /// At a named point of its work.
        case servicePoint, projectorPoint
    }

    /// How many are killed.
    private static let kills =
        ProcessInfo.processInfo.environment["BELLWETHER_KILLS"].flatMap { Int($0) } ?? Victim.allCases.count

    @Test("SIGKILL of service, projector, backend and postmaster loses nothing acknowledged and counts nothing twice")
    func random() throws {
        let shop = try EmbeddedShop()
        let bellwether = shop.bellwether
        var service = try bellwether.serve("--only", "ingest")
        var projector = try bellwether.serve("--only", "project")
        // What an hour of it sends must be sent again in minutes.
        let load = Load(clients: 2, pause: 0.05, on: service, key: shop.key)
        var (victims, points): ([Victim], Set<String>) = ([], [])
        var (writePoints, stepPoints): ([String], [String]) = ([], [])
        for kill in 1...Self.kills {
            #expect(load.isServed(.random(in: 1...10)), "before kill \(kill): \(service.log.suffix(2000))")
            if kill % 100 == 0 {
                let url = try #require(bellwether.url)
                // After the last kill PostgreSQL may still recover.
                #expect(eventually { (try? Connection(url: url)) != nil })
                try Laws.checkFunnels(url: url)
            }
            if victims.isEmpty { victims = Victim.allCases.shuffled() }
            switch victims.removeLast() {
            case .service:
                try service.kill()
                service = try bellwether.serve("--only", "ingest")
                load.turn(to: service)
            case .projector:
                try projector.kill()
                projector = try bellwether.serve("--only", "project", waitsUntilReady: false)
            case .backend: #expect(try eventually { try killBackend(bellwether) })
            case .postmaster:
                let server = try #require(bellwether.postmaster)
                Glibc.kill(server, SIGKILL)
                #expect(eventually { bellwether.postmaster != server })
            case .servicePoint:
                if writePoints.isEmpty { writePoints = CrashPointFaultTests.writePoints.shuffled() }
                let point = writePoints.removeLast()
                let mortal = try bellwether.dying(at: point, time: .random(in: 1...10)).serve("--only", "ingest")
                load.turn(to: mortal)
                #expect(try service.stop() == 0)
                let ended = try mortal.process.wait(within: 120)
                #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
                points.insert(point)
                service = try bellwether.serve("--only", "ingest")
                load.turn(to: service)
            case .projectorPoint:
                if stepPoints.isEmpty { stepPoints = CrashPointFaultTests.stepPoints.shuffled() }
                let point = stepPoints.removeLast()
                let mortal = try bellwether.dying(at: point, time: .random(in: 1...3))
                    .serve("--only", "project", waitsUntilReady: false)
                #expect(try projector.stop() == 0)
                let ended = try mortal.process.wait(within: 120)
                #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
                points.insert(point)
                projector = try bellwether.serve("--only", "project", waitsUntilReady: false)
            }
        }
        #expect(load.isServed())
        // Of each kind of victim there is one in each six kills.
        let named = CrashPointFaultTests.writePoints + CrashPointFaultTests.stepPoints
        #expect(Self.kills < 6 * named.count || points == Set(named))
        let count = try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
        #expect(try projector.stop() == 0)
        FaultLength.report(
            "\(Self.kills) kills, \(points.count) named points among them: \(count.stored) events, \(count.lost) lost, \(count.doubled) doubled"
        )
    }

    /// Kills one of the backends that work for somebody, and waits until PostgreSQL has ended all others for it; false if
    /// there is none at the moment.
    private func killBackend(_ bellwether: Bellwether) throws -> Bool {
        guard let url = bellwether.url, var connection = try? Connection(url: url) else { return false }
        let backend = try connection.query(
            """
            SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
            ORDER BY random() LIMIT 1
            """
        ).first?.get(0, as: Int32.self)
        guard let backend, Glibc.kill(backend, SIGKILL) == 0 else { return false }
        return eventually { (try? connection.query("SELECT")) == nil }
    }
}
