import Foundation
import Postgres
import TestSupport
import Testing

@Suite("An upgrade of the program, with events coming in")
struct UpgradeFaultTests {
    /// A later version: a debug build that pretends to be one.
    private func next(_ shop: Shop) -> Bellwether {
        var next = shop.bellwether
        next.runner = ["env", "BELLWETHER_NEXT_VERSION=1"]
        return next
    }

    @Test(
        "old and new services take events together while the database is migrated; the new ones count, and nothing is lost"
    )
    func underLoad() throws {
        let shop = try Shop()
        let later = next(shop)
        let old = try shop.bellwether.serve()
        let load = shop.load(on: old)
        #expect(load.isServed(50))

        // A new one that is too early waits. A balancer that does not ask who is ready sends it half of everything.
        let new = try later.serve(waitsUntilReady: false)
        #expect(
            try eventually {
                try new.client().get("/readyz").problem?.detail.contains("run bellwether migrate") == true
            })
        load.turn(to: old, new)
        #expect(load.isServed() && load.isRefused())

        let migrated = try later.run("migrate")
        #expect(
            migrated.status == 0 && migrated.messages.contains("The rules of thread_funnel have changed"), "\(migrated)"
        )
        try new.waitUntilReady()
        #expect(load.isServed(50))
        // The old one says that it should go, and takes events as long as somebody sends it any.
        #expect(
            try eventually {
                try old.client().get("/readyz").problem?.detail.contains("newer than this program") == true
            })
        load.turn(to: old)
        #expect(load.isServed(50))
        load.turn(to: old, new)
        // The new one has made anew what old rules had counted.
        let isMade: Statement =
            """
            SELECT count(*) FROM projection.projector AS p JOIN projection.generation AS g ON g.id = p.generation
            WHERE g.state = 'live' AND p.name = 'thread_funnel' AND p.version > 0
            """
        #expect(try eventually { try shop.database.value(isMade, as: Int64.self) == 1 })

        load.turn(to: new)
        #expect(try old.stop() == 0)
        #expect(load.isServed())
        try Laws.check(load, url: shop.database.url(), by: later)
        #expect(try new.stop() == 0)
        // The way back is a backup: the old program leaves the database alone.
        let late = try shop.bellwether.run("project", "--once")
        #expect(late.status == 1 && late.messages.contains("newer than this program"), "\(late)")
    }
}
