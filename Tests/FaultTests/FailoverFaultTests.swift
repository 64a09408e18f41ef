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
}
