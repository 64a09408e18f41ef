import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("Which engagements a funnel takes back")
struct ClosingButtonScanTests {
    @Test(
        "is read of the buttons that close, and of no others",
        arguments: [("campaign", 2), ("thread", 2), ("version", 2), ("campaign", 0), ("thread", 0), ("version", 0)])
    func plan(funnel: String, closing: Int) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let buttons = ["A", "B", "C", "D"]
        let answers = closing == 0 ? ["accept", "accept"] : ["close", "decline"]
        try app.register(
            """
            {"categories": [{"id": "CHAT", "actions": [
                {"id": "A", "titles": {"en": "A"}, "answer": "\(answers[0])"},
                {"id": "B", "titles": {"en": "B"}, "answer": "\(answers[1])"}
            ]}]}
            """)
        let category = try app.word(.category, "CHAT")
        for button in buttons {
            try app.insert(
                "\(funnel)_soles",
                ["category": category, "action_id": try app.word(.actionID, button), "sole": 1, "received_sole": 1])
        }
        // Of each button on each day fifty: of other campaigns, threads or versions.
        let key = funnel == "version" ? "app_version" : funnel
        try database.run(
            """
            INSERT INTO projection.\(funnel)_soles
            SELECT made.* FROM projection.\(funnel)_soles AS pattern, generate_series(1, 50) AS n, generate_series(0, 29) AS later,
                jsonb_populate_record(pattern, jsonb_build_object('\(key)', n, 'day', date '2026-11-01' + later)) AS made;
            ANALYZE projection.\(funnel)_soles;
            """)
        for days in ["= '2026-11-20'", "BETWEEN '2026-11-14' AND '2026-11-20'"] {
            let plan = try database.plan(
                of: "SELECT sum(received_engaged) FROM analytics.\(funnel)_funnel WHERE app = 'chat' AND day \(days)")
            let scans = plan.indices.filter { plan[$0].contains(" on \(funnel)_soles_1 ") }
            #expect(scans.count == 1, "\(plan)")
            for scan in scans {
                let rows = (days.hasPrefix("=") ? 51 : 351) * closing
                #expect(plan[scan].contains("Index Scan") && plan[scan].contains("rows=\(rows) "), "\(plan)")
                let removed = plan[scan...].dropFirst().prefix { !$0.contains("->") }.filter { $0.contains("Removed") }
                #expect(removed.isEmpty, "\(plan)")
            }
        }
    }
}
