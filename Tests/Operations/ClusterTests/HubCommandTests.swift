import CatalogueSupport
import Clusters
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

import struct Foundation.Data
import class Foundation.JSONSerialization

@Suite("Commands on a hub")
struct HubCommandTests {
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("verify and rebuild work in all cells and name them; a cell that is away is named, and the others are done")
    func verified() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        let text = try bellwether.trusted("verify")
        for place in 1...3 {
            #expect(text.contains("cell-\(place): Recounted 4 events of 2 deliveries"), "\(text)")
            #expect(text.contains("cell-\(place): Verified"))
        }
        // What all cells have proved is proved, and from that day on which is proved in each.
        #expect(try filled.seen("SELECT since, proved, unchanged FROM proofs") == ["(,t,t)"])
        #expect(try Bellwether(filled.cells.databases[0]).run("verify", "--since", "2026-11-01").status == 0)
        #expect(try filled.seen("SELECT since, proved FROM proofs ORDER BY since") == ["(2026-11-01,t)", "(,t)"])
        #expect(try bellwether.run("verify", "--sample").status == 0)
        try filled.cells.databases[1].run("UPDATE projection.category_funnel SET opened = opened + 1")
        let differs = try bellwether.run("verify", "--format", "json")
        #expect(differs.status == 1)
        let found = try objects(differs.output)
        #expect(found.compactMap { $0["cell"] as? String } == ["cell-1", "cell-2", "cell-3"])
        #expect(found.compactMap { $0["proved"] as? Bool } == [true, false, true])
        #expect(try filled.seen("SELECT proved, differing_cells > 0 FROM proofs WHERE since IS NULL") == ["(f,t)"])
        // Given a cell, it is about that cell alone.
        #expect(try Bellwether(filled.cells.databases[0]).trusted("verify").hasPrefix("Recounted 4 events"))
        let rebuilt = try bellwether.run("rebuild")
        #expect(rebuilt.status == 0 && rebuilt.messages.contains("cell-2: Rebuilt from 4 events"), "\(rebuilt)")
        #expect(try bellwether.run("verify").status == 0)

        try filled.cells.close(2)
        let away = try bellwether.run("verify")
        #expect(
            away.status == 1 && away.output.contains("cell-1: Verified") && away.output.contains("cell-2: Verified"))
        #expect(away.messages.contains("the cell 'cell-3' cannot be reached"), "\(away)")
        try filled.cells.open(2)
    }

    @Test("a projection that has stopped in one cell is named by project, and resumed where it has")
    func resumed() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        try filled.add(filled.installs[0], to: 0, at: Event.sampleTime + 60_000_000)
        #expect(try bellwether.run("project", "--once").messages.contains("cell-1: The funnels are at batch 2"))
        #expect(try filled.seen("SELECT sum(taps) FROM category_actions") == ["(8)"])
        try filled.cells.databases[1].run(
            """
            UPDATE projection.projector SET stopped_at = now(), stopped_batch = 1, stopped_because = 'a test says so'
            WHERE name = 'silent_funnel'
            """)
        let stopped = try bellwether.run("project", "--once")
        #expect(stopped.status == 1 && stopped.messages.contains("cell-2: silent_funnel has stopped"), "\(stopped)")
        #expect(try bellwether.run("doctor").output.contains("silent_funnel of cell 'cell-2' is stopped"))
        let resumed = try bellwether.run("projection", "resume", "silent_funnel")
        #expect(resumed.status == 0 && resumed.messages.contains("cell-2: Rebuilt"), "\(resumed)")
        #expect(resumed.messages.contains("cell-1: silent_funnel is running"))
        #expect(try bellwether.run("project", "--once").status == 0)
    }

    @Test("status shows each cell, and one that is away as an error")
    func status() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        let found = try objects(try bellwether.trusted("status", "--format", "json"))
        #expect(found.compactMap { $0["cell"] as? String } == ["cell-1", "cell-2", "cell-3"])
        #expect(found.compactMap { $0["events"] as? Int } == [4, 4, 4])
        #expect(try bellwether.trusted("status").contains("cell            cell-3\nhead            batch 1\n"))
        try filled.cells.close(0)
        let away = try bellwether.run("status")
        #expect(away.status == 1 && away.messages.contains("'cell-1' cannot be reached"), "\(away)")
        #expect(!away.output.contains("cell-1") && away.output.contains("cell-2"))
        try filled.cells.open(0)
    }

    @Test("rejected events of all cells are listed with their cell, and replayed into the cell of their install")
    func rejected() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let bellwether = try filled.bellwether
        // Kept in the first cell, as if the shard of its install had been there.
        let install = filled.installs[1][0]
        let refused = RejectedEvent(
            id: nil, install: install, rejection: Rejection(.unknownType, "type"),
            raw: Wire.event(at: "2026-11-20T09:31:00Z"))
        _ = try filled.cells.databases[0].appender().append([
            filled.cells.app.submission([], rejected: [refused], source: #"{"install_id":"\#(install)"}"#)
        ])
        let bad = RejectedEvent(id: nil, rejection: Rejection(.unknownType, "type"), raw: Wire.event(type: "unheard"))
        _ = try filled.cells.databases[2].appender().append([filled.cells.app.submission([], rejected: [bad])])
        let list = try bellwether.trusted("rejected", "list")
        #expect(list.contains("cell-1:1 ") && list.contains("cell-3:1 "), "\(list)")
        let found = try objects(try bellwether.trusted("rejected", "list", "--id", "cell-3:1", "--format", "json"))
        #expect(found.count == 1 && found[0]["cell"] as? String == "cell-3" && found[0]["id"] as? Int == 1)
        for (id, code) in [("1", 64), ("cell-9:1", 64), ("cell-2:7", 1), ("x", 64)] as [(String, Int32)] {
            #expect(try bellwether.run("rejected", "list", "--id", id).status == code, "\(id)")
        }
        let first = try Bellwether(filled.cells.databases[0]).run("rejected", "replay")
        #expect(
            first.output.contains("accepted 0") && first.output.contains("of installs in other cells 1"), "\(first)")
        #expect(try Bellwether(filled.cells.databases[0]).run("rejected", "list", "--id", "cell-1:1").status == 64)
        let replayed = try bellwether.run("rejected", "replay")
        #expect(replayed.status == 0 && replayed.output == "accepted 1\nduplicate 0\nrejected 1\n", "\(replayed)")
        #expect(
            try filled.seen("SELECT cell, count(*) FROM hub.events WHERE type = 'notification.opened' GROUP BY 1")
                == ["(cell-2,1)"])
        #expect(try objects(try bellwether.trusted("rejected", "list", "--format", "json")).count == 1)
        try filled.cells.close(1)
        let away = try bellwether.run("rejected", "list")
        #expect(away.status == 69 && away.output.isEmpty && away.messages.contains("'cell-2'"), "\(away)")
        try filled.cells.open(1)
    }

    @Test("the doctor of a hub sees whether all cells can be read through it")
    func doctor() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        func look(_ database: TestDatabase) throws -> [String: String] {
            let ended = try Bellwether(database).run("doctor", "--format", "json")
            let all = try #require(try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [[String: Any]])
            return Dictionary(
                uniqueKeysWithValues: all.map { ("\($0["check"] ?? "")", "\($0["status"] ?? "") \($0["what"] ?? "")") })
        }
        let well = try look(filled.hub)
        #expect(well["cells"]?.hasPrefix("ok all 3 cells") == true, "\(well)")
        #expect(well["partitions"] == nil && well["reports"] != nil)
        let cell = try look(filled.cells.databases[1])
        #expect(cell["cells"] == nil && cell["partitions"] != nil && cell["reports"] == nil)
        try filled.cells.close(1)
        let away = try look(filled.hub)
        #expect(away["cells"]?.hasPrefix("fail cell 'cell-2' cannot be read through this hub") == true, "\(away)")
        try filled.cells.open(1)
    }

    @Test("reports are made on the hub, each night too, kept there, and printed again as they were")
    func reported() throws {
        let filled = try FilledCells()
        defer { filled.drop() }
        let (bellwether, directory) = (try filled.bellwether, TemporaryDirectory())
        let day = ["--date", "2026-11-20", "--wait", "0s"]
        let places =
            "{\"from\": \"a@b\", \"sendmail\": \"/bin/true\", \"places\": [{\"name\": \"ana\", \"mail\": [\"c@d\"]}]}"
        try places.write(toFile: directory("places.json"), atomically: false, encoding: .utf8)
        let nightly = try bellwether.start(
            ["report", "--all-apps", "--output-dir", directory("reports"), "--deliver", directory("places.json")] + day
        ).wait()
        #expect(nightly.status == 0 && nightly.messages.contains("6 deliveries"), "\(nightly)")
        let delivered: Statement = "SELECT concat_ws(' ', app, period, place, state) FROM analytics.report_deliveries"
        #expect(try filled.hub.column(delivered, of: String.self) == ["chat 2026-11-20 ana sent"])
        let file = try String(contentsOfFile: directory("reports/chat/2026-11-20.csv"), encoding: .utf8)
        // The positions of three cells.
        #expect(file.contains("chat,2026-11-20,3,"))
        let printed = try bellwether.trusted(
            "report", "--app", "chat", "--date", "2026-11-20", "--as-of", "3", "--format", "csv")
        #expect(printed == file)
        let none = try bellwether.run("report", "--app", "chat", "--date", "2026-11-20", "--as-of", "2")
        #expect(none.status == 1 && none.messages.contains("2026-11-20"), "\(none)")
        #expect(try bellwether.trusted("report", "--week", "2026-W47", "--app", "chat").contains("week 47"))
        // Who looks after the cells' funnels finds it where it was kept.
        let projecting = try Bellwether(filled.cells.databases[0]).serve("--only", "project")
        let isFound = try eventually {
            try projecting.client().get("/metrics").body.contains(
                /bellwether_last_report_timestamp_seconds [1-9][0-9]*/)
        }
        #expect(isFound, "\(projecting.log)")
        #expect(try projecting.stop() == 0)
        try filled.cells.close(1)
        let away = try bellwether.start(["report", "--app", "chat"] + day).wait()
        #expect(away.status == 69 && away.output.isEmpty && away.messages.contains("\"cell-2\""), "\(away)")
        try filled.cells.open(1)
    }
}
