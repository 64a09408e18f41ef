import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The database fails under a running service")
struct DatabaseFaultTests {
    @Test("a killed backend, a killed server, a crash and a restart: it heals by itself and keeps what it acknowledged")
    func crashes() throws {
        let shop = try EmbeddedShop()
        let bellwether = shop.bellwether
        let service = try bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())

        // One backend: PostgreSQL throws out everybody and recovers.
        let url = try #require(bellwether.url)
        let backend = try backendOfWriter(url)
        #expect(kill(backend, SIGKILL) == 0)
        #expect(load.isServed())
        // The whole server, at once (kill -9), as by `pg_ctl stop -m immediate`, and as by `-m fast`.
        for signal in [SIGKILL, SIGQUIT, SIGINT] {
            let server = try #require(bellwether.postmaster)
            #expect(kill(server, signal) == 0)
            let gone = eventually { !ProcessTable.isAlive(server) }
            #expect(gone)
            #expect(load.isServed(), "after signal \(signal): \(service.log.suffix(2000))")
            #expect(bellwether.postmaster != server)
        }
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
        #expect(bellwether.postmaster == nil)
    }

    @Test("a server that stands still makes requests wait or get 503, never hang, and all goes on when it moves again")
    func standstill() throws {
        let shop = try EmbeddedShop()
        let bellwether = shop.bellwether
        let service = try bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())
        let server = try #require(bellwether.postmaster)
        let processes = ProcessTable.family(of: server)
        for process in processes { kill(process, SIGSTOP) }
        // Whoever has no key that is known waits for the database too, but not for ever.
        let stranger = try service.client().post("{}", key: "bww_nobody")
        #expect(stranger.status == 503 && stranger["retry-after"] != nil, "\(stranger)")
        #expect(try service.client().get("/healthz").status == 200)
        // The load balancer is told, too.
        let told = try eventually { try service.client().get("/readyz").status == 503 }
        #expect(told)
        for process in processes.reversed() { kill(process, SIGCONT) }
        #expect(load.isServed())
        #expect(load.brokenConnections == 0)
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(bellwether.url))
        #expect(try service.stop() == 0)
    }

    @Test("while commits stall, what the bounded queue cannot take gets 503 at once, the rest is committed later")
    func overload() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try Bellwether(database).serve("--queue-bytes", "2000000")
        defer { _ = try? service.stop() }
        #expect(try service.client().post(Wire.envelope(Wire.event()), key: app.secret).status == 200)
        let before = try #require(ProcessTable.peakMemory(of: service.process.id))
        // 500 events of half a KiB each: 60 envelopes are 15 MB, 30 MB by the queue's own reckoning.
        let padding = String(repeating: "x", count: 400)
        let bodies = (0..<60).map { _ in
            Wire.envelope((0..<500).map { _ in Wire.event(more: #""padding":"\#(padding)""#) })
        }
        var blocker = try database.connect()
        try blocker.execute(script: "BEGIN; LOCK TABLE log.batch IN ACCESS EXCLUSIVE MODE")
        var waiting: [RawClient] = []
        var refused = 0
        for body in bodies {
            // The surplus is turned away at once, before anything is committed; whoever is kept hears nothing.
            let (client, answer) = try service.offer(body, key: app.secret)
            if let answer {
                #expect(answer.status == 503 && answer.problem?.code == "overloaded" && answer["retry-after"] != nil)
                refused += 1
            } else {
                waiting.append(client)
            }
            if refused == 20 { break }
        }
        #expect(refused == 20 && !waiting.isEmpty && waiting.count < 10, "\(refused) refused, \(waiting.count) wait")
        #expect(waiting.allSatisfy { !$0.hasUnread })
        try blocker.execute(script: "COMMIT")
        for client in waiting { #expect(try client.answer(within: 30).results.accepted == 500) }
        let recovered = try eventually {
            try service.client().post(bodies[0], key: app.secret).status == 200
        }
        #expect(recovered)
        let grown = try #require(ProcessTable.peakMemory(of: service.process.id)) - before
        #expect(grown < 150_000, "\(grown) KiB")
    }

    private func backendOfWriter(_ url: String) throws -> pid_t {
        var connection = try Connection(url: url)
        return try connection.query(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'bellwether writer' ORDER BY pid LIMIT 1")[0]
            .get(0)
    }
}
