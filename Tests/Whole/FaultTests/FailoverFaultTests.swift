import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The database fails over to a synchronous standby")
struct FailoverFaultTests {
    @Test(
        "the next host of the URL has everything that was acknowledged, though waits for the standby had been cancelled"
    )
    func failover() throws {
        let server = try DatabaseServer()
        let standby = try Standby(of: server)
        let bellwether = Bellwether(database: try standby.url(beside: server))
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed(50))

        // The standby dies. Commits wait for it; who cancels the wait makes them succeed here, and nowhere else.
        try standby.kill()
        var administrator = try server.administrator()
        for _ in 0..<3 {
            let cancelled = try eventually {
                administrator.deadline = .after(seconds: 60)
                return try administrator.query(
                    """
                    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND application_name = 'bellwether writer'
                    """
                ).count > 0
            }
            #expect(cancelled)
        }
        ProcessTable.kill(familyOf: try #require(server.postmaster))
        #expect(load.isRefused())
        try standby.start()
        try standby.promote()
        #expect(load.isServed(50), "\(service.log.suffix(3000))")
        try service.waitUntilReady()
        try Laws.check(load, url: standby.url)
        #expect(try service.stop() == 0)
    }

    @Test(
        "while the standby is missing, longer than a commit may take, nobody is told that anything is stored; when it is back, all is, once"
    )
    func missing() throws {
        let server = try DatabaseServer()
        let standby = try Standby(of: server)
        let bellwether = Bellwether(database: server.url)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(clients: 8, on: service, key: key)
        #expect(load.isServed(50))
        let memory = try #require(ProcessTable.peakMemory(of: service.process.id))
        let connections = try server.connections()

        try standby.kill()
        // By then the commits that it had confirmed in its last moment have been answered, too.
        #expect(load.isRefused(1))
        let served = load.acknowledgements
        let end = Deadline.after(seconds: FaultLength.seconds(1))
        repeat { #expect(load.isRefused(1)) } while !end.hasPassed
        #expect(load.acknowledgements == served)
        #expect(try service.client().get("/healthz").status == 200)
        // Whoever waits for the standby within PostgreSQL cannot see that nobody waits for it any more.
        let left = try server.connections()
        #expect(left <= 2 * connections, "\(left) connections, \(connections) before")
        let grown = try #require(ProcessTable.peakMemory(of: service.process.id)) - memory
        #expect(grown < 50_000, "\(grown) KiB")
        FaultLength.report(
            "standby missing: \(load.refusals) envelopes refused, \(grown) KiB more memory, \(connections) connections before, \(left) at the end"
        )

        try standby.start()
        #expect(load.isServed(50), "\(service.log.suffix(3000))")
        try service.waitUntilReady()
        try Laws.check(load, url: server.url)
        #expect(try service.stop() == 0)
    }
}

extension DatabaseServer {
    /// How many connections the service has here.
    fileprivate func connections() throws -> Int64 {
        var administrator = try self.administrator()
        return try administrator.query(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'bellwether %'")[0].get(0)
    }
}
