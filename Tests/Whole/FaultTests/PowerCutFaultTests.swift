import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@testable import class BellwetherClient.Queue

/// `make power-cuts` does it two hundred times.
@Suite("The power is cut: what was not synced is gone")
struct PowerCutFaultTests {
    private static let cuts =
        ProcessInfo.processInfo.environment["BELLWETHER_POWER_CUTS"].flatMap { Int($0) } ?? 4

    /// An embedded database on a disk that forgets.
    private struct House {
        let shop: EmbeddedShop
        let power: PowerCut
        let bellwether: Bellwether

        init(lies: Bool = false) throws {
            shop = try EmbeddedShop()
            let data = try #require(shop.bellwether.data)
            power = try PowerCut(of: "postgres", beneath: data, lies: lies)
            let installation = try #require(try PostgresInstallation.all(deadline: .after(seconds: 30)).first)
            bellwether = shop.bellwether.knowing([
                "BELLWETHER_POSTGRES_BIN": try power.postgres(in: installation.binDirectory)
            ])
        }

        /// Kills everybody, and takes away what was not synced.
        func cut(_ services: RunningService..., losingAll: Bool = false) throws -> PowerCut.Loss {
            // At once: a service that is left would start the server again.
            for service in services { service.process.signal(SIGSTOP) }
            if let server = bellwether.postmaster, ProcessTable.isAlive(server) { ProcessTable.kill(familyOf: server) }
            for service in services { try service.kill() }
            return try power.cut(losingAll: losingAll)
        }
    }

    @Test("at random moments and at named points: what was acknowledged is stored once, and every number is right")
    func cut() throws {
        let house = try House()
        let bellwether = house.bellwether
        var service = try bellwether.serve()
        let load = Load(clients: 2, pause: 0.05, on: service, key: house.shop.key)
        var (points, losses) = ([String](), [PowerCut.Loss]())
        for cut in 1...Self.cuts {
            #expect(load.isServed(.random(in: 1...20)), "before cut \(cut): \(service.log.suffix(2000))")
            if cut % 50 == 0 { try Laws.checkFunnels(url: try #require(bellwether.url)) }
            let checkpoint = Bool.random() ? try Checkpoint(of: bellwether) : nil
            if cut % 2 == 0 {
                if points.isEmpty {
                    points = (CrashPointFaultTests.writePoints + CrashPointFaultTests.stepPoints).shuffled()
                }
                let mortal = try bellwether.dying(at: points.removeLast(), time: .random(in: 1...5)).serve()
                load.turn(to: mortal)
                #expect(try service.stop() == 0)
                _ = try mortal.process.wait(within: 120)
                losses.append(try house.cut())
            } else {
                losses.append(try house.cut(service))
            }
            checkpoint?.end()
            service = try bellwether.serve()
            load.turn(to: service)
        }
        #expect(load.isServed())
        #expect(losses.contains { $0.writes > 0 }, "no cut took anything away")
        let count = try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
        let writes = losses.reduce(0) { $0 + $1.writes }
        let events = "\(count.stored) events, \(count.lost) lost, \(count.doubled) doubled"
        FaultLength.report("\(Self.cuts) power cuts took \(writes) writes away: \(events)")
    }

    @Test("a disk that lies about its syncs loses what was acknowledged: so the cuts take away what they should")
    func lies() throws {
        let house = try House(lies: true)
        let service = try house.bellwether.serve("--only", "ingest")
        let load = Load(clients: 1, pause: 0.05, on: service, key: house.shop.key)
        #expect(load.isServed(10))
        load.stop()
        let loss = try house.cut(service, losingAll: true)
        let after = try house.bellwether.serve("--only", "ingest")
        var connection = try Connection(url: try #require(house.bellwether.url))
        let stored: Int64 = try connection.query("SELECT count(*) FROM log.event")[0].get(0)
        #expect(stored < load.events, "\(loss)")
        #expect(try after.stop() == 0)
    }

    @Test(
        "under a phone's queue, too: what was recorded is there, once, if the disk does not lie",
        arguments: [false, true])
    func queue(lies: Bool) throws {
        let scratch = TemporaryDirectory()
        let directory = scratch("queue")
        let power = try PowerCut(of: "ClientProcess", beneath: directory, lies: lies)
        let binary = (Bellwether.path as NSString).deletingLastPathComponent + "/ClientProcess"
        let text = { (try? String(contentsOfFile: scratch("recorded"), encoding: .utf8)) ?? "" }
        for _ in 1...max(4, Self.cuts / 4) {
            let before = text().utf8.count
            let child = try ChildProcess(
                [binary, "record", directory, "http://127.0.0.1:1", "key", scratch("recorded")],
                environment: power.environment)
            let much = before + Int.random(in: 100...2_000)
            #expect(eventually { text().utf8.count > much })
            child.signal(SIGKILL)
            _ = try child.wait()
            _ = try power.cut(losingAll: true)
        }
        let queue = Queue(directory: URL(fileURLWithPath: directory))
        var stored: [String] = []
        while let batch = try queue.next(events: 1000, bytes: 512 << 10) {
            for event in batch.events {
                let object = try JSONSerialization.jsonObject(with: Data(event.json)) as? [String: Any]
                let notification = object?["notification"] as? [String: Any]
                stored.append(try #require(notification?["id"] as? String))
            }
            try queue.settle(batch)
        }
        let recorded = Set(text().split(separator: "\n").map(String.init))
        #expect(recorded.subtracting(stored).isEmpty != lies, "recorded and lost")
        #expect(Set(stored).count == stored.count, "twice")
    }
}

/// A checkpoint under way, so that a cut finds pages half written.
private final class Checkpoint: Sendable {
    private let worker: Worker

    init(of bellwether: Bellwether) throws {
        let url = try #require(bellwether.url).replacing("bellwether_owner@", with: "bellwether@")
        worker = Worker(name: "checkpoint") {
            guard var connection = try? Connection(url: url) else { return }
            _ = try? connection.execute(script: "CHECKPOINT")
        }
    }

    /// It ends with its server.
    func end() { worker.join() }
}
