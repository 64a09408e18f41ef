import Clusters
import EventLog
import Postgres
import TestSupport
import Testing

@Suite("Where cells are, and cells that come back")
struct PlaceTests {
    /// The same database under another address.
    private func elsewhere(_ database: TestDatabase) throws -> String {
        try database.url() + "&connect_timeout=7"
    }

    @Test("a cell, the first one and a hub can get another address, and everybody follows", arguments: [0, 1, 3])
    func moved(place: Int) throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let (all, names) = (cells.databases + [hub], ["cell-1", "cell-2", "cell-3", "hub"])
        let bellwether = try Bellwether(cells.databases[2])
        let other = try bellwether.run(
            "cluster", "set-place", names[place], try all[place == 1 ? 0 : 1].url())
        #expect(other.status == 1 && other.messages.contains("is the database of the cell"), "\(other)")
        let stranger = try TestDatabase.make(.withUsualShards)
        defer { stranger.drop() }
        let refused = try bellwether.run("cluster", "set-place", names[place], try stranger.url())
        #expect(refused.status == 1 && refused.messages.contains("is not the cell"), "\(refused)")
        // Twice, as after an interruption.
        for _ in 0..<2 {
            _ = try bellwether.trusted("cluster", "set-place", names[place], try elsewhere(all[place]))
        }
        for database in all {
            let told = try database.value(
                "SELECT connection FROM cluster.cell WHERE name = \(names[place])", as: String.self)
            #expect(told.contains("connect_timeout='7'"), "\(told)")
        }
        #expect(try Bellwether(hub).trusted("cluster", "check") == "All cells agree.\n")
        #expect(try hub.value("SELECT count(*) FROM analytics.events") == Int64(0))
    }

    @Test("a cell that was removed comes back as the one that it was, and nothing of it counts twice")
    func back() throws {
        let cells = try FilledCells()
        defer { cells.drop() }
        let third = cells.cells.databases[2]
        let accepted = "SELECT sum(accepted)::bigint FROM analytics.data_quality"
        let (before, events) = (try cells.seen(accepted), try cells.seen("SELECT count(*) FROM analytics.events"))
        func move(to name: String) throws {
            _ = try cells.cells.cluster().move([12, 13, 14, 15], to: name)
        }
        for _ in 0..<2 {
            try move(to: "cell-1")
            _ = try cells.bellwether.trusted("cluster", "remove", "cell-3")
            #expect(try cells.seen(accepted) == before)
            _ = try cells.bellwether.trusted("cluster", "add", try third.url(), "--name", "cell-3")
            // Its server asks for no password, so a superuser lets the hub log in there again.
            _ = try cells.bellwether.trusted(
                "cluster", "add", try cells.hub.url(), "--name", "hub", "--hub", "--superuser",
                try cells.hub.url(as: "postgres"))
            #expect(try cells.seen(accepted) == before)
            try move(to: "cell-3")
            #expect(try cells.bellwether.trusted("cluster", "check") == "All cells agree.\n")
            #expect(try cells.seen(accepted) == before)
            #expect(try cells.seen("SELECT count(*) FROM analytics.events") == events)
        }
        #expect(try third.value("SELECT cell FROM cluster.state") == Int16(3))
        // It takes events again.
        let service = try Bellwether(cells.cells.databases[0]).serve("--only", "ingest")
        let envelope = Wire.envelope(install: cells.cells.install(of: 2), Wire.event())
        #expect(try service.client().post(envelope, key: cells.cells.app.secret).status == 200)
        #expect(try service.stop() == 0)
    }

    @Test("a copy of a cell that is in the cluster is refused by that name, and a hub that was removed comes back")
    func copies() throws {
        let cells = try ThreeCells()
        let hub = try cells.makeHub()
        defer {
            cells.drop()
            hub.drop()
        }
        let bellwether = try Bellwether(cells.databases[0])
        let again = try bellwether.run(
            "cluster", "add", try elsewhere(cells.databases[1]), "--name", "cell-4")
        #expect(again.status == 1 && again.messages.contains("is a copy of the cell 'cell-2'"), "\(again)")
        _ = try bellwether.trusted("cluster", "remove", "hub")
        _ = try bellwether.trusted(
            "cluster", "add", try hub.url(), "--name", "hub", "--hub", "--superuser", try hub.url(as: "postgres"))
        #expect(try bellwether.trusted("cluster", "check") == "All cells agree.\n")
        #expect(try hub.value("SELECT count(*) FROM analytics.events") == Int64(0))
    }
}
