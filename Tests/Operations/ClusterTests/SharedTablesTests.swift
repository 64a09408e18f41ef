import Accounts
import Clusters
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("What all cells of a cluster share")
struct SharedTablesTests {
    private func agree(_ cells: ThreeCells) throws -> Bool {
        try SharedTables.all.allSatisfy { table in
            let contents = try cells.databases.map { database in
                var connection = try database.connect()
                return try table.content(on: &connection)
            }
            return contents.allSatisfy { $0 == contents[0] }
        }
    }

    @Test("commands reach all cells, whichever they are given")
    func commands() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[2])
        _ = try bellwether.trusted("app", "create", "shop", "--time-zone", "Asia/Bangkok")
        _ = try bellwether.trusted("app", "key", "add", "shop", "--server")
        _ = try bellwether.trusted("app", "key", "revoke", "chat", "write")
        _ = try bellwether.trusted("app", "set", "chat", "--time-zone", "Europe/Berlin", "--rate-limit", "10")
        _ = try bellwether.trusted("look", "key", "add", "team")
        let key = try bellwether.run("look", "key", "add", "agency", "--app", "shop")
        #expect(key.status == 0 && key.messages.contains("reads shop alone"), "\(key)")
        #expect(try bellwether.trusted("look", "key", "list").contains(/agency +shop .* never/))
        let bound = try bellwether.run("app", "analyst", "add", "anna", "--app", "shop", "--app", "chat")
        #expect(bound.status == 0 && bound.messages.contains("'anna' reads these apps: chat, shop"), "\(bound)")
        #expect(bound.messages.contains("No login of this name reads as an analyst yet"))
        _ = try bellwether.run("app", "analyst", "remove", "anna", "--app", "chat")
        #expect(try bellwether.trusted("app", "analyst", "list").contains(/anna +shop +no such login/))
        #expect(try bellwether.run("app", "analyst", "add", "anna").status == 64)
        #expect(try bellwether.run("app", "analyst", "add", "anna", "--app", "none").messages.contains("no app 'none'"))
        _ = try bellwether.trusted("categories", "import", "--app", "shop", "--preset", "hive")
        _ = try bellwether.trusted(
            "experiments", "create", "--app", "shop", "sale", "--control", "10", "--starts", "2126-01-01T00:00:00Z")
        _ = try bellwether.trusted("experiments", "end", "--app", "shop", "sale")
        let send = #"{"id":"s1","message_ids":["0:1700000000000000%1","m2"],"campaign":"c","payload":{"a":"é'\\"}}"#
        _ = try bellwether.trusted("sends", "import", "--app", "shop", "-", input: send)
        #expect(try agree(cells))
        let last = cells.databases[1]
        #expect(try last.value("SELECT count(*) FROM log.api_key WHERE revoked_at IS NOT NULL", as: Int64.self) == 1)
        #expect(try last.value("SELECT apps::text FROM log.analyst WHERE login = 'anna'", as: String.self) == "{shop}")
        #expect(
            try last.value("SELECT apps::text FROM log.reader_key WHERE name = 'agency'", as: String.self) == "{shop}")
        #expect(try last.value("SELECT count(*) FROM registry.button", as: Int64.self) > 0)
        #expect(try last.value("SELECT count(*) FROM registry.experiment_version", as: Int64.self) == 2)
        #expect(try last.value("SELECT count(*) FROM sends.send_message", as: Int64.self) == 2)
        // The days of each cell follow.
        #expect(try last.value("SELECT time_zone FROM projection.zone", as: String.self) == "Europe/Berlin")
    }

    @Test(
        "what a killed command left in some cells alone is found and brought to the others",
        arguments: ["shared in the first cell", "shared with another cell"])
    func mended(point: String) throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let killed = try Bellwether(cells.databases[0]).dying(at: point)
        #expect(try killed.run("app", "create", "half").status == 128 + 9)
        try cells.close(1)
        let away = try Bellwether(cells.databases[0]).run("app", "key", "revoke", "chat", "write")
        #expect(away.status == 1)
        #expect(away.messages.contains("'cell-2' does not have this yet"))
        #expect(!away.messages.contains("cell-3"))
        try cells.open(1)
        #expect(!(try agree(cells)))
        let check = try Bellwether(cells.databases[0]).run("cluster", "check")
        #expect(check.status == 0, "\(check)")
        let lacked = point == "shared in the first cell" ? "2 rows" : "1 row"
        #expect(check.output.contains("mended  cell-2: log.api_key lacked \(lacked)"), "\(check)")
        #expect(try agree(cells))
        try cells.databases[2].run("INSERT INTO log.reader_key (name, hash) VALUES ('stray', sha256('x'))")
        let stray = try Bellwether(cells.databases[0]).run("cluster", "check")
        #expect(stray.status == 1)
        #expect(
            stray.output.hasPrefix("OPEN    cell-3: log.reader_key has rows that the first cell does not have."),
            "\(stray)")
        #expect(stray.output.hasSuffix("bellwether cluster check --accept-loss cell-1\n"), "\(stray)")
    }

    @Test("what a restored first cell lost comes back to it, and nothing new gets a number of it before")
    func restored() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        let bellwether = try Bellwether(cells.databases[1])
        func send(_ id: String) throws -> String {
            let send = #"{"id":"\#(id)","campaign":"c","payload":{"a":1},"message_ids":["m-\#(id)"]}"#
            return try bellwether.trusted("sends", "import", "--app", "chat", "-", input: send)
        }
        try cells.keep(0)
        _ = try bellwether.trusted("app", "create", "lost")
        _ = try send("old")
        _ = try bellwether.trusted("categories", "import", "--app", "lost", "--preset", "hive")
        try cells.restore(0)
        let refused = try bellwether.run("app", "create", "fresh")
        #expect(refused.status == 1 && refused.messages.contains("as after a restore"), "\(refused)")
        #expect(throws: (any Error).self) { try send("new") }
        let open = try bellwether.run("cluster", "check")
        #expect(open.status == 1 && open.output.contains("--accept-loss cell-1"), "\(open)")
        let settled = try bellwether.run("cluster", "check", "--accept-loss", "cell-1")
        #expect(settled.status == 0, "\(settled)")
        #expect(
            settled.output.contains("cell-1: log.app has 1 row again that it lacked and 'cell-2' has"), "\(settled)")
        #expect(try agree(cells))
        _ = try bellwether.trusted("app", "create", "fresh")
        _ = try send("new")
        #expect(try agree(cells))
        for database in cells.databases {
            #expect(
                try database.column("SELECT slug FROM log.app ORDER BY id", of: String.self) == [
                    "chat", "lost", "fresh",
                ])
            #expect(
                try database.column("SELECT id FROM sends.send ORDER BY number", of: String.self) == ["old", "new"])
        }
    }

    @Test("a new time zone moves the days of all cells at once")
    func zone() throws {
        let filled = try FilledCells(at: [])
        defer { filled.drop() }
        for place in 0..<3 {
            try filled.add(Array(filled.installs[place].prefix(1)), to: place, at: Event.sampleTime, category: "NEWS")
        }
        try filled.project()
        let set = try filled.bellwether.run("app", "set", "chat", "--time-zone", "Pacific/Pago_Pago")
        #expect(set.status == 0 && set.messages.contains("Deliveries moved to another day: 3,"), "\(set)")
        #expect(try filled.seen("SELECT DISTINCT days_moving FROM apps") == ["(f)"])
        #expect(try filled.bellwether.run("verify").status == 0)
    }

    @Test("what nothing can put right is not called mended")
    func beyondMending() throws {
        let cells = try ThreeCells()
        defer { cells.drop() }
        try cells.databases[2].run("UPDATE log.app SET slug = 'other' WHERE id = \(cells.app.id)")
        for _ in 0..<2 {
            let findings = try cells.cluster().check()
            #expect(findings.count == 1 && findings.first?.isMended == false, "\(findings)")
            #expect(findings.first?.what.hasPrefix("log.app has rows that say something else") == true, "\(findings)")
        }
    }
}
