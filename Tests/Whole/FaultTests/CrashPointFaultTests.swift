import Foundation
import Postgres
import TestSupport
import Testing

@Suite("The program is killed at a named point of its work")
struct CrashPointFaultTests {
    /// From the decoder to the answer.
    static let writePoints = ["decoded", "queued", "named", "begun", "copied", "numbering", "committed", "answered"]
    /// From a step's claim to its commit.
    static let stepPoints = ["claimed", "folded", "counted", "moved", "stepped"]

    @Test("dead at any point from the decoder to the answer, it has lost nothing that was acknowledged")
    func writePath() throws {
        let shop = try Shop()
        var service = try shop.bellwether.serve()
        let load = shop.load(on: service)
        for point in Self.writePoints {
            #expect(load.isServed(5))
            let mortal = try shop.bellwether.dying(at: point, time: .random(in: 1...30)).serve()
            load.turn(to: mortal)
            try #expect(service.stop() == 0)
            let ended = try mortal.process.wait(within: 120)
            #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
            service = try shop.bellwether.serve()
            load.turn(to: service)
        }
        #expect(load.isServed())
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    @Test("dead at any point of a step, it leaves the step undone or done, and the next one counts nothing twice")
    func step() throws {
        let shop = try Shop()
        let ingest = try shop.bellwether.serve("--only", "ingest")
        let load = shop.load(clients: 2, on: ingest)
        for point in Self.stepPoints {
            for time in [1, .random(in: 2...6)] {
                let mortal = try shop.bellwether.dying(at: point, time: time)
                    .serve("--only", "project", waitsUntilReady: false)
                let ended = try mortal.process.wait(within: 120)
                #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
            }
        }
        try Laws.check(load, url: shop.database.url())
        #expect(try ingest.stop() == 0)
    }

    @Test(
        "a rebuild that dies anywhere leaves the live funnels right, and the next one goes on from there",
        arguments: [["rebuild"], ["rebuild", "category_funnel", "story_page_funnel"]])
    func rebuild(_ words: [String]) throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        // A rebuild and a verification of all that there is for every point: much more would only take longer.
        let load = shop.load(clients: 2, pause: 0.05, on: service)
        #expect(load.isServed(50))
        /// The generation that a dead rebuild has left half made.
        func unfinished() throws -> Int32? {
            try shop.database.column("SELECT id FROM projection.generation WHERE state = 'building'", of: Int32.self)
                .first
        }
        // Those within a transaction that makes or swaps, those between them, those of its steps and of its
        // verification.
        let points: [(name: String, time: Int, leavesLine: Bool)] = [
            ("generation made", 1, false), ("generation begun", 1, true), ("claimed", 1, true), ("moved", 1, true),
            ("stepped", 1, true), ("level", 1, true), ("recounted", .random(in: 1...Int(TestDatabase.shards)), true),
            ("proved", 1, true), ("side by side", 1, true), ("exchanged", 1, true), ("swapped", 1, false),
            // What the one before has retired is dropped by the next.
            ("dropping", 1, false), ("dropped", 1, false),
        ]
        var generation: Int32?
        for point in points {
            let ended = try shop.bellwether.dying(at: point.name, time: point.time).start(words).wait(within: 120)
            #expect(ended.status == 128 + SIGKILL, "\(point.name): \(ended)")
            let left = try unfinished()
            #expect((left != nil) == point.leavesLine, "\(point.name)")
            // It is the same one all the time: nothing of it is made twice.
            if let left, let generation { #expect(left == generation, "\(point.name)") }
            generation = left
            try Laws.checkFunnels(url: shop.database.url())
        }
        let ended = try shop.bellwether.start(words).wait(within: 120)
        #expect(ended.status == 0, "\(ended)")
        try Laws.check(load, url: shop.database.url())
        #expect(try shop.database.value(ProjectionTables.count, as: Int64.self) == ProjectionTables.ofOneGeneration)
        #expect(try shop.database.column("SELECT state FROM projection.generation", of: String.self) == ["live"])
        #expect(try service.stop() == 0)
    }

    @Test("a migration that dies anywhere has changed nothing, and the next one, or one that waited, does it all")
    func migration() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let bellwether = try Bellwether(database)
        for (point, time) in [("history made", 1), ("migrated", 1), ("migrated", .random(in: 2...20))] {
            let ended = try bellwether.dying(at: point, time: time).run("migrate")
            #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
            #expect(try database.value("SELECT count(*) FROM bellwether.migration", as: Int64.self) == 0)
            #expect(
                try database.value("SELECT to_regnamespace('log') IS NULL AND to_regnamespace('analytics') IS NULL"))
        }
        let mortal = try bellwether.dying(at: "migrated", time: 10).start(["migrate"])
        let other = try bellwether.start(["migrate"])
        // Whoever came first: the other did it all, or left nothing to do.
        #expect(try [0, 128 + SIGKILL].contains(mortal.wait().status))
        #expect(try other.wait().status == 0)
        #expect(try bellwether.run("migrate").messages.contains("is at this version"))

        let app = try database.makeApp()
        let service = try bellwether.serve()
        let load = Load(clients: 1, on: service, key: app.secret)
        #expect(load.isServed())
        try Laws.check(load, url: database.url())
        #expect(try service.stop() == 0)
    }
}
