import Glibc
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Shards move between two servers while everything is killed")
struct MoveFaultTests {
    /// What is killed while a move goes on.
    private enum Victim: CaseIterable { case move, old, new, service }

    /// Two cells on a server each, and the key of an app.
    private func makeCells() throws -> (servers: [DatabaseServer], bellwether: Bellwether, key: String) {
        let servers = [try DatabaseServer(), try DatabaseServer()]
        let bellwether = Bellwether(database: servers[0].url)
        _ = try bellwether.trusted("cluster", "create", "--name", "cell-1")
        _ = try bellwether.trusted("cluster", "add", servers[1].url, "--name", "cell-2")
        return (servers, bellwether, String(try bellwether.trusted("app", "create", "chat").dropLast()))
    }

    @Test("each acknowledged event is stored once, whoever is killed at any moment, and the move goes on")
    func random() throws {
        let (servers, bellwether, key) = try makeCells()
        var service = try bellwether.serve("--only", "ingest")
        // A move copies all that came before: an hour of load must leave time for many moves.
        let load = Load(pause: FaultLength.isLong ? 0.2 : Load.pause, on: service, key: key)
        #expect(load.isServed())
        let end = Deadline.after(seconds: FaultLength.seconds(0))
        var victims = Victim.allCases.shuffled()
        var (rounds, kills) = (0, 0)
        while rounds < 4 || !end.hasPassed {
            let target = rounds % 2 == 0 ? 2 : 1
            rounds += 1
            if victims.isEmpty { victims = Victim.allCases.shuffled() }
            let victim = victims.removeLast()
            let shards = (0..<16).filter { _ in Bool.random() } + [Int.random(in: 0..<16)]
            let words = ["cluster", "move", "--to", "cell-\(target)"] + shards.flatMap { ["--shard", "\($0)"] }
            let move = try bellwether.start(words)
            // A moment of the move, whichever.
            _ = Lock(()).wait(until: .after(seconds: .random(in: 0...1.5))) { _ in Bool?.none }
            switch victim {
            case .move: move.signal(SIGKILL)
            case .service:
                service.process.signal(SIGKILL)
                service = try bellwether.serve("--only", "ingest")
                load.turn(to: service)
            case .old, .new:
                let server = servers[victim == .new ? target - 1 : 2 - target]
                for process in server.postmaster.map({ ProcessTable.family(of: $0) }) ?? [] { kill(process, SIGKILL) }
                // It may take the server that is dying for one that runs.
                #expect(
                    eventually {
                        try? server.start()
                        return (try? server.administrator()) != nil
                    })
            }
            kills += 1
            _ = try move.wait(within: 300)
            // The same again goes on from wherever that ended.
            let ended = try bellwether.start(words).wait(within: 300)
            #expect(ended.status == 0, "\(victim): \(ended)")
            #expect(load.isServed(5), "\(victim)")
        }
        let count = try Laws.check(load, cells: servers.map(\.url))
        #expect(try service.stop() == 0)
        FaultLength.report("\(rounds) moves, \(kills) kills, \(count.stored) events")
        let check = try bellwether.run("cluster", "check")
        #expect(check.status == 0, "\(check)")
    }

    /// Where a move may stand when one of its two servers dies.
    private static let points = [
        "map told to the first cell", "move begun", "arrival prepared", "batches copied", "shards let go",
        "rest copied",
        "shards switched", "copy proved", "copy shown", "events forgotten", "shards forgotten",
    ]

    @Test("whichever server dies while the move stands at a named point, the same command ends it")
    func atNamedPoints() throws {
        let (servers, bellwether, key) = try makeCells()
        let service = try bellwether.serve("--only", "ingest")
        let load = Load(pause: 0.2, on: service, key: key)
        #expect(load.isServed())
        // Some points are only passed if there is something to move.
        var first = try servers[0].administrator()
        #expect(
            try eventually {
                try first.query("SELECT FROM log.opened_event WHERE shard IN (3, 4) GROUP BY shard").count == 2
            })
        // `make test` has time for two.
        let cases = Self.points.flatMap { point in [(point, 0), (point, 1)] }.shuffled().prefix(
            FaultLength.isLong ? .max : 2)
        for (round, (point, victim)) in cases.enumerated() {
            let words = ["cluster", "move", "--to", "cell-\(round % 2 == 0 ? 2 : 1)", "--shard", "3", "--shard", "4"]
            let move = try bellwether.stopping(at: point).start(words)
            #expect(eventually { move.isStopped }, "\(point)")
            let server = servers[victim]
            for process in server.postmaster.map({ ProcessTable.family(of: $0) }) ?? [] { kill(process, SIGKILL) }
            #expect(
                eventually {
                    try? server.start()
                    return (try? server.administrator()) != nil
                })
            move.signal(SIGCONT)
            _ = try move.wait(within: 300)
            let ended = try bellwether.start(words).wait(within: 300)
            #expect(ended.status == 0, "\(point), server \(victim + 1): \(ended)")
            #expect(load.isServed(5), "\(point), server \(victim + 1)")
        }
        let count = try Laws.check(load, cells: servers.map(\.url))
        #expect(try service.stop() == 0)
        let check = try bellwether.run("cluster", "check")
        #expect(check.status == 0, "\(check)")
        FaultLength.report("\(cases.count) deaths of a server at named points of a move, \(count.stored) events")
    }

    @Test("a move that may not copy as fast as events come in ends: the switch copies the rest, or the command says so")
    func tooSlow() throws {
        let (old, new) = (try TestDatabase.make(), try TestDatabase.make(.empty))
        defer { for database in [old, new] { database.drop() } }
        let bellwether = try Bellwether(old)
        let key = String(try bellwether.trusted("app", "create", "chat").dropLast())
        _ = try bellwether.trusted("cluster", "create", "--name", "cell-1")
        _ = try bellwether.trusted("cluster", "add", new.url(), "--name", "cell-2")
        let service = try bellwether.serve("--only", "ingest")
        // Four times as many events as may be copied.
        let load = Load(pause: 0.05, on: service, key: key)
        #expect(load.isServed(50))
        let words = ["cluster", "move", "--to", "cell-2"] + (0..<TestDatabase.shards).flatMap { ["--shard", "\($0)"] }
        let slow = try bellwether.start(words + ["--rate", "50"]).wait(within: 120)
        #expect(slow.status == 0 || slow.messages.contains("more than --rate 50, or none"), "\(slow)")
        #expect(load.isServed())
        let moved = try bellwether.start(words).wait(within: 120)
        #expect(moved.status == 0, "\(moved)")
        try Laws.check(load, cells: [old.url(), new.url()])
        #expect(try service.stop() == 0)
    }
}
