import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Whoever projects is killed")
struct ProjectionFaultTests {
    @Test(
        "of two projectors under load one is killed again and again: the other has everything, and nothing counts twice"
    )
    func projectors() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let bellwether = try Bellwether(database)
        let ingest = try bellwether.serve("--only", "ingest")
        let load = Load(on: ingest, key: app.secret)
        var projectors = try (0..<2).map { _ in try bellwether.serve("--only", "project") }
        for round in 0..<5 {
            #expect(load.isServed(.random(in: 1...80)))
            try projectors[round % 2].kill()
            #expect(try catchesUp(database))
            projectors[round % 2] = try bellwether.serve("--only", "project", waitsUntilReady: false)
        }
        try Laws.check(load, url: database.url())
        for service in projectors + [ingest] { #expect(try service.stop() == 0) }
    }

    @Test("backends of the projections are ended, one is killed: the service heals by itself, and nothing counts twice")
    func backends() throws {
        let shop = try EmbeddedShop()
        let service = try shop.bellwether.serve()
        let load = Load(on: service, key: shop.key)
        let url = try #require(shop.bellwether.url)
        for _ in 0..<4 {
            #expect(load.isServed(.random(in: 1...60)))
            var connection = try Connection(url: url)
            try connection.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'bellwether projections' AND random() < 0.7
                """)
        }
        let killed = try eventually {
            // It comes back a moment after it was ended.
            var connection = try Connection(url: url)
            let backend: pid_t? = try connection.query(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'bellwether projections' LIMIT 1"
            ).first?.get(0)
            return backend.map { kill($0, SIGKILL) == 0 } ?? false
        }
        #expect(killed)
        #expect(load.isServed())
        try service.waitUntilReady()
        try Laws.check(load, url: try #require(shop.bellwether.url))
        #expect(try service.stop() == 0)
    }

    /// The funnels reach where the log stands now, while it grows.
    private func catchesUp(_ database: TestDatabase) throws -> Bool {
        let head: Int64 = try database.value("SELECT max(number) FROM log.batch")
        return try eventually {
            try database.value("SELECT min(position) FROM projection.progress", as: Int64.self) >= head
        }
    }
}
