import Postgres
import Projections
import TestSupport
import Testing

@Suite("What a projector declares")
struct FunnelDeclarationTests {
    @Test("is what the database has: tables, keys, views and their comments")
    func agrees() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.connect()
        for projector in Projectors.all {
            #expect(try Self.disagreements(of: projector, on: &connection) == [])
        }
        let declared = Projectors.all.map { "\($0.name) \($0.version)" }
        let found: [String] = try database.column(
            "SELECT name || ' ' || version FROM projection.projector WHERE name <> 'deliveries'")
        #expect(found.sorted() == declared.sorted())
    }

    /// What a projector declares otherwise than the database has it, a line for each.
    static func disagreements(
        of projector: any Projector.Type, on connection: inout Connection
    ) throws -> [String] {
        var lines: [String] = []
        func compare(_ what: String, _ found: [String], _ declared: [String]) {
            if found != declared { lines.append("\(what) has \(found), declared are \(declared)") }
        }
        for table in projector.tables {
            let own = table.keys.map { "\($0.name) \($0.type)" }
            // In any order: a count that is added later stands at the end.
            let stored = ["generation integer", "app integer", "day date", "shard smallint"]
            compare(
                "table \(table.name)",
                try columns(of: "projection.\(table.name)", on: &connection).map { "\($0.name) \($0.type)" }.sorted(),
                (table.counts.map { "\($0) bigint" } + stored + own).sorted())
            let key: [String] = try connection.query(
                """
                SELECT array_agg(attname ORDER BY place)::text[] FROM pg_index
                CROSS JOIN unnest(indkey::smallint[]) WITH ORDINALITY AS k (number, place)
                JOIN pg_attribute ON attrelid = indrelid AND attnum = number
                WHERE indrelid = \("projection.\(table.name)")::regclass AND indisprimary
                """)[0].get(0)
            // Of buttons that were the only response, views read those that close.
            let first = table.name.hasSuffix("_soles") ? ["category", "action_id"] : []
            let others = table.keys.map(\.name).filter { !first.contains($0) }
            compare("key of \(table.name)", key, ["app"] + first + ["day"] + others + ["shard", "generation"])
            guard table.hasView else { continue }
            let shown = try columns(of: "analytics.\(table.name)", on: &connection)
            let meanings = table.keys.map { ($0.name, $0.meaning) } + table.columns.map { ($0.name, $0.meaning) }
            for (name, meaning) in meanings {
                let found = shown.first { $0.name == name }
                if found?.comment != meaning {
                    lines.append("\(table.name).\(name) is said to be \(found?.comment ?? "nothing")")
                }
            }
            guard case .sums = table.view else { continue }
            compare("view \(table.name)", shown.map(\.name), ["app", "day"] + meanings.map(\.0))
        }
        return lines
    }

    private static func columns(
        of relation: String, on connection: inout Connection
    ) throws -> [(name: String, type: String, comment: String?)] {
        try connection.query(
            """
            SELECT attname::text, format_type(atttypid, atttypmod), col_description(attrelid, attnum) FROM pg_attribute
            WHERE attrelid = \(relation)::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        ).map { row in (try row.get(0), try row.get(1), try row.optional(2)) }
    }
}
