import FunnelOracle
import Testing

@Suite("What differs is said")
struct FunnelTableTests {
    private func table() throws -> FunnelTable {
        try FunnelTable(
            funnels([
                Example("1", category: "A").event(.receipt), Example("2", category: nil).event(.receipt),
                Example("2", category: nil).event(.tap("YES"), 10),
            ]).categories)
    }

    @Test("equal tables differ in nothing, in whatever order the rows stand")
    func equal() throws {
        let table = try table()
        #expect(table.rows.count == 2)
        #expect(table.differences(in: table.rows.reversed()) == [])
    }

    @Test("a cell, a missing row, a row too many and a doubled row are told by name")
    func different() throws {
        let table = try table()
        var rows = table.rows
        rows[0][3] = "7"
        rows[0][5] = nil
        #expect(
            table.differences(in: rows) == [
                "category_funnel shop | 2026-03-10 | '': delivered is 7, expected 1",
                "category_funnel shop | 2026-03-10 | '': inferred is null, expected 0",
            ])
        let missing = table.differences(in: [table.rows[0]])
        #expect(missing.count == 1)
        #expect(missing[0].hasPrefix("category_funnel shop | 2026-03-10 | A: missing, expected delivered=1 received=1"))
        rows = table.rows + [table.rows[0], table.rows[0]]
        rows[3][2] = "B"
        let more = table.differences(in: rows)
        #expect(more.count == 2)
        #expect(more[0].hasPrefix("category_funnel shop | 2026-03-10 | B: not expected, has delivered=1"))
        #expect(more[1] == "category_funnel shop | 2026-03-10 | '': stands 2 times")
    }

    @Test("a median may be off by a tenth, though 0 is 0 and null is null")
    func median() throws {
        func agrees(_ seconds: Double, with found: String?) throws -> Bool {
            let table = try FunnelTable(
                funnels([Example().event(.receipt), Example().event(.tap("YES"), seconds)]).actions)
            #expect(table.columns[10] == "median_seconds")
            var row = table.rows[0]
            row[10] = found
            return table.differences(in: [row]).isEmpty
        }
        #expect(try agrees(10, with: "10"))
        #expect(try agrees(10, with: "11.0") && agrees(10, with: "9.0000"))
        #expect(try !agrees(10, with: "11.1") && !agrees(10, with: "8.9"))
        #expect(try !agrees(10, with: nil) && !agrees(10, with: "soon"))
        #expect(try agrees(0, with: "0.000") && !agrees(0, with: "0.000001"))
        #expect(try !agrees(-5, with: "0") && agrees(-5, with: nil))
    }

    @Test("the query names the columns of the contract")
    func query() throws {
        #expect(
            FunnelTable([SilentFunnel]()).query
                == #"SELECT "app"::text, "day"::text, "campaign"::text, "woken"::text, "new_data"::text, "#
                + #""no_data"::text, "failed"::text, "no_result"::text FROM analytics.silent_funnel"#)
    }
}
