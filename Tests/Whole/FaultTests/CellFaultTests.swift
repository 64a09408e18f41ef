import EventLog
import Glibc
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The server of one cell stands still")
struct CellFaultTests {
    /// Two servers with half of the shards each, and the key of an app.
    private struct TwoServers {
        let near: DatabaseServer
        let far: DatabaseServer
        let key: String
        let service: RunningService
        /// Two installs of each.
        let nearInstalls = (0..<2).map { _ in TwoServers.install(isNear: true) }
        let farInstalls = (0..<2).map { _ in TwoServers.install(isNear: false) }

        init() throws {
            (near, far) = (try DatabaseServer(), try DatabaseServer())
            let bellwether = Bellwether(database: near.url)
            _ = try bellwether.trusted("cluster", "create", "--name", "near")
            _ = try bellwether.trusted("cluster", "add", far.url, "--name", "far")
            let shards = (8..<16).flatMap { ["--shard", "\($0)"] }
            let moved = try bellwether.start(["cluster", "move", "--to", "far"] + shards).wait()
            #expect(moved.status == 0, "\(moved)")
            key = String(try bellwether.trusted("app", "create", "chat").dropLast())
            service = try bellwether.serve("--only", "ingest")
        }

        private static func install(isNear: Bool) -> String {
            while true {
                let install = Wire.id()
                if let id = UUID(install), (Shard.of(id, among: 16) < 8) == isNear { return install }
            }
        }

        /// Stops all processes of a server, and returns what lets them go on.
        func stop(_ server: DatabaseServer) throws -> () -> Void {
            let processes = ProcessTable.family(of: try #require(server.postmaster))
            for process in processes { kill(process, SIGSTOP) }
            return { for process in processes.reversed() { kill(process, SIGCONT) } }
        }

        func post(_ client: HTTPClient, _ install: String) throws -> RawClient.Answer {
            try client.post(Wire.envelope(install: install, Wire.event()), key: key)
        }
    }

    /// The longest of so many requests, in seconds. Each of them must be answered with 200.
    private func longest(of count: Int, _ request: () throws -> RawClient.Answer) throws -> Double {
        try (0..<count).map { _ in
            let began = Deadline.now
            let answer = try request()
            #expect(answer.status == 200, "\(answer)")
            return Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9
        }.max() ?? 0
    }

    @Test("whichever cell it is, the other one's events are stored as before, and its own are not lost")
    func standstill() throws {
        let servers = try TwoServers()
        let (client, service) = (servers.service.client(), servers.service)
        let sides = [
            (servers.far, servers.farInstalls, servers.nearInstalls),
            (servers.near, servers.nearInstalls, servers.farInstalls),
        ]
        for (server, held, free) in sides {
            for install in held + free { #expect(try servers.post(client, install).status == 200) }
            let goOn = try servers.stop(server)
            let waiting = try held.flatMap { install in
                try (0..<8).map { _ in
                    let connection = try RawClient(port: service.port)
                    let envelope = Wire.envelope(install: install, Wire.event())
                    connection.send(
                        "POST /v1/events HTTP/1.1\r\nHost: bellwether\r\nContent-Type: application/json\r\n"
                            + "Authorization: Bearer \(servers.key)\r\nContent-Length: \(envelope.utf8.count)\r\n\r\n\(envelope)"
                    )
                    return (connection, envelope)
                }
            }
            // As long as it takes until every deadline of the cell that stands still has passed.
            let end = Deadline.after(seconds: 16)
            let haveAnswers = try eventually {
                let longest = try longest(of: 2) { try servers.post(client, free[0]) }
                #expect(longest < 10, "waiting for a cell takes ten seconds and more")
                return end.hasPassed && waiting.allSatisfy { $0.0.hasUnread }
            }
            #expect(haveAnswers)
            for (connection, _) in waiting { #expect(try connection.answer().status == 503) }
            let refused = try servers.post(client, held[0])
            #expect(refused.status == 503 && refused["retry-after"] != nil, "\(refused)")
            goOn()
            #expect(try eventually { try servers.post(client, held[0]).status == 200 })
            for (_, envelope) in waiting {
                #expect(try eventually { try client.post(envelope, key: servers.key).status == 200 })
            }
        }
        #expect(try service.stop() == 0)
        for (server, own, _) in sides {
            var connection = try server.administrator()
            var installs: [String] = []
            for row in try connection.query("SELECT DISTINCT install_id::text FROM log.event ORDER BY 1") {
                installs.append(try row.get(0))
            }
            #expect(installs == own.sorted())
        }
    }

    @Test("a third cell that stands still while shards are switched lets nobody wait")
    func bystander() throws {
        let servers = try TwoServers()
        let third = try DatabaseServer()
        let bellwether = Bellwether(database: servers.near.url)
        _ = try bellwether.trusted("cluster", "add", third.url, "--name", "third")
        let move = try bellwether.stopping(at: "arrival prepared").start([
            "cluster", "move", "--to", "far", "--shard", "0",
        ])
        #expect(eventually { move.isStopped })
        let goOn = try servers.stop(third)
        move.signal(SIGCONT)
        #expect(eventually { move.messages.contains("The new cell takes their events.") })
        goOn()
        let ended = try move.wait()
        #expect(ended.status == 0, "\(ended)")
        let seconds = try #require(ended.messages.firstMatch(of: /503 for ([0-9.]+) s/).flatMap { Double($0.1) })
        // To find out that it stands still takes ten, and the switch a small part of one.
        #expect(seconds < 10)
        #expect(try servers.service.stop() == 0)
    }

    @Test("a cell that has left the cluster and stands still holds up no map that comes after")
    func gone() throws {
        let servers = try TwoServers()
        let third = try DatabaseServer()
        _ = try Bellwether(database: servers.near.url).trusted("cluster", "add", third.url, "--name", "third")
        #expect(eventually { servers.service.log.contains("near, far, third") })
        let goOn = try servers.stop(third)
        // `cluster remove` would wait for it, so the maps are written here.
        var near = try servers.near.administrator()
        var far = try servers.far.administrator()
        let install = servers.nearInstalls[0]
        let shard = Shard.of(try #require(UUID(install)), among: 16)
        var map = try #require(try ClusterMap.read(on: &near))
        map.cells.removeAll { $0.name == "third" }
        for holder: Int16 in [1, 2] {
            map = map.next([shard], takenBy: holder, nil)
            try map.write(as: 1, knowing: map.shards, on: &near)
            try map.write(as: 2, knowing: map.shards, on: &far)
            let isFollowed = eventually(within: 10) { [map] in
                servers.service.log.contains(#""epoch":"\#(map.epoch)""#)
            }
            #expect(isFollowed, "epoch \(map.epoch)")
        }
        #expect(try eventually { try servers.post(servers.service.client(), install).status == 200 })
        #expect(try far.query("SELECT FROM log.event WHERE install_id = \(install)::uuid").count == 1)
        goOn()
        #expect(try servers.service.stop() == 0)
    }
}
