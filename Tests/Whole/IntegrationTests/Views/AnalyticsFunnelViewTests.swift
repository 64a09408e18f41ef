import Postgres
import Projections
import Telemetry
import TestSupport
import Testing

@Suite("The funnels as analysts read them")
struct AnalyticsFunnelViewTests {
    /// A funnel: the columns of its table that are summed, and those that name a row beside app and day.
    struct Funnel: Sendable, CustomTestStringConvertible {
        let view: String
        let counts: [String]
        /// What the view calls them.
        let shown: [String]
        var words: [(column: String, kind: WordKind)]
        var codes: [(column: String, code: Int, name: String)] = []

        var testDescription: String { view }
        var keys: [String] { words.map(\.column) + codes.map(\.column) }
    }

    static let funnels: [Funnel] = Projectors.all.flatMap { $0.tables }.filter(\.hasView).map { table in
        let counts = table.columns.filter { $0.stored != nil }
        let isSummed = counts.contains { $0.stored != $0.name }
        var funnel = Funnel(view: table.name, counts: table.counts, shown: counts.map(\.name), words: [])
        for key in table.keys {
            switch key.kind {
            case .word:
                funnel.words.append(
                    (
                        key.name,
                        WordKind.allCases.first {
                            [key.name, "media_" + key.name].contains($0.member.declaration.column)
                        }!
                    ))
            case .code(let words): funnel.codes.append((key.name, 3, words[2]))
            // What is summed from the last page shows the pages before it, too.
            case .number: funnel.codes.append(isSummed ? (key.name, 0, "0") : (key.name, 3, "3"))
            }
        }
        return funnel
    }

    /// The key that names every column: words of the app, and a code.
    private func key(of funnel: Funnel, in app: TestApp) throws -> [String: Int] {
        var key: [String: Int] = [:]
        for (column, kind) in funnel.words { key[column] = try app.word(kind, "a \(column)") }
        for code in funnel.codes { key[code.column] = code.code }
        return key
    }

    private func sums(_ funnel: Funnel, in database: TestDatabase, key: Bool = true) throws -> [String] {
        let columns = ["app", "day"] + (key ? funnel.keys : []) + funnel.shown
        return try database.analystRows(
            "SELECT \(columns.joined(separator: ", ")) FROM \(funnel.view) ORDER BY app, day")
    }

    @Test("sum shards and what retention sealed, and nothing of a generation that is not live", arguments: funnels)
    func sums(funnel: Funnel) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        let app = try database.makeApp()
        // Each column has a number of its own, so none can be taken for another.
        let numbers = Dictionary(uniqueKeysWithValues: funnel.counts.enumerated().map { ($1, $0 + 1) })
        try app.insertEverywhere(funnel.view, numbers, key: try key(of: funnel, in: app))

        func expected(_ times: Int) -> String {
            let names = funnel.words.map { "\"a \($0.column)\"" } + funnel.codes.map(\.name)
            let counts = funnel.counts.indices.map { String(($0 + 1) * times) }
            return "(\((["chat", "2026-11-20"] + names + counts).joined(separator: ",")))"
        }
        #expect(try sums(funnel, in: database) == [expected(111)])
        // The generations change places: the other partition is read, and the sealed one still.
        try database.run(
            """
            UPDATE projection.generation SET state = 'retired' WHERE id = 1;
            UPDATE projection.generation SET state = 'live' WHERE id = 2;
            """)
        #expect(try sums(funnel, in: database) == [expected(7_100)])
    }

    @Test(
        "keep apps, days and keys apart, write '' for none, and leave out rows of nothing",
        arguments: funnels.filter { !$0.keys.isEmpty })
    func rows(funnel: Funnel) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, other) = (try database.makeApp(), try database.makeApp("other"))
        let ones = Dictionary(uniqueKeysWithValues: funnel.counts.map { ($0, 1) })
        let named = try key(of: funnel, in: app)
        try app.insert(funnel.view, ones)
        try app.insert(funnel.view, ones.merging(named) { $1 })
        try app.insert(funnel.view, day: "2026-11-21", ones.merging(named) { $1 })
        try other.insert(funnel.view, ones)
        // What has moved to another day or category leaves zeros behind.
        try app.insert(funnel.view, day: "2026-11-22", named)
        try app.insert(funnel.view, generation: 0, shard: 2, day: "2026-11-22", named)

        let tail = funnel.counts.map { _ in ",1" }.joined() + ")"
        #expect(
            try sums(funnel, in: database, key: false) == [
                "(chat,2026-11-20" + tail, "(chat,2026-11-20" + tail, "(chat,2026-11-21" + tail,
                "(other,2026-11-20" + tail,
            ])
        let nameless = funnel.keys.map { $0 == "page_index" ? "0" : "\"\"" }.joined(separator: ",")
        let keys = try database.analystRows("SELECT \(funnel.keys.joined(separator: ", ")) FROM \(funnel.view)")
        // PostgreSQL writes a row of one column as ("").
        #expect(keys.filter { $0 == "(\(nameless))" }.count == 2)
        #expect(try database.analystRows("SELECT FROM \(funnel.view) WHERE day > '2026-11-21'").isEmpty)
    }

    @Test("have the contract's columns, counts as bigint and rates as numeric")
    func columns() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let counts =
            "delivered received inferred expanded opened action_tapped story_action_tapped responded "
            + "received_responded engaged received_engaged dismissed unanswered suppressed media_attached"
        let shapes: [(view: String, keys: String, counts: String, rates: String)] = [
            (
                "campaign_funnel", "campaign variant",
                "sent accepted fcm_delivered \(counts) woken fcm_data_accepted fcm_data_delivered",
                "accept_rate fcm_delivery_rate delivery_rate receipt_coverage response_rate engagement_rate contradiction:text"
            ),
            ("category_funnel", "category", counts, "response_rate engagement_rate receipt_coverage dismiss_rate"),
            ("category_answers", "category answer", "tapped_deliveries taps", ""),
            ("thread_funnel", "thread", counts + " items", "response_rate engagement_rate receipt_coverage"),
            ("version_funnel", "platform app_version", counts, "response_rate engagement_rate receipt_coverage"),
            (
                "category_actions", "category action_id",
                "tapped_deliveries taps foreground_taps timed sole received_sole",
                "median_seconds"
            ),
            (
                "story_funnel", "category campaign variant",
                "stories started completed exit_clicked exit_finished exit_fallback exit_abandoned",
                "completion_rate fallback_rate"
            ),
            (
                "story_page_funnel", "category campaign variant page_index:smallint",
                "planned reached shown views clicked exited dwell_ms dwells",
                "click_rate mean_dwell_seconds page_title:text declared_ms:bigint auto_advances:bigint "
                    + "manual_advances:bigint unexplained_advances:bigint"
            ),
            ("silent_funnel", "campaign", "woken new_data no_data failed no_result", "new_data_rate"),
            (
                "media_funnel", "category kind format network outcome reason",
                "deliveries responded received received_responded bytes ms timed", "response_rate mean_seconds"
            ),
            ("send_delays", "campaign variant", "delayed negative", "median_seconds p90_seconds"),
            (
                "install_days", "",
                "active authorized provisional ephemeral denied not_determined unsaid turned_off turned_on prominent quiet none",
                ""
            ),
            ("muted_after", "category campaign", "installs received_nothing", ""),
        ]
        func typed(_ names: String, _ type: String) -> [String] {
            names.split(separator: " ").map { $0.contains(":") ? String($0) : "\($0):\(type)" }
        }
        for shape in shapes {
            let found = try database.columns(of: shape.view)
            let expected =
                ["app:text", "day:date"] + typed(shape.keys, "text") + typed(shape.counts, "bigint")
                + typed(shape.rates, "numeric")
            #expect(found == expected)
        }
    }

    @Test("give rates over the contract's bases, to four places, and null where a base is 0")
    func rates() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let wanted: [(view: String, values: [String: Int], rates: String, expected: String)] = [
            (
                "category_funnel", ["delivered": 16, "received": 8, "responded": 7, "received_responded": 2],
                "inferred, trim_scale(response_rate), trim_scale(receipt_coverage)", "(8,0.25,0.5)"
            ),
            (
                "thread_funnel", ["delivered": 16, "received": 8, "responded": 7, "received_responded": 2],
                "inferred, trim_scale(response_rate), trim_scale(receipt_coverage)", "(8,0.25,0.5)"
            ),
            (
                "version_funnel", ["delivered": 16, "received": 8, "responded": 7, "received_responded": 2],
                "inferred, trim_scale(response_rate), trim_scale(receipt_coverage)", "(8,0.25,0.5)"
            ),
            (
                "story_funnel", ["stories": 10, "started": 8, "completed": 6, "exit_fallback": 1],
                "trim_scale(completion_rate), trim_scale(fallback_rate)", "(0.75,0.1)"
            ),
            (
                "story_page_funnel", ["last": 9, "shown": 8, "clicked": 2, "dwell_ms": 10_500, "dwells": 4],
                "trim_scale(click_rate), trim_scale(mean_dwell_seconds)", "(0.25,2.625)"
            ),
            (
                "silent_funnel", ["woken": 10, "new_data": 3, "no_data": 1, "failed": 2, "no_result": 4],
                "trim_scale(new_data_rate)", "(0.5)"
            ),
            (
                "media_funnel", ["deliveries": 9, "received": 8, "received_responded": 2, "ms": 500, "timed": 2],
                "trim_scale(response_rate), trim_scale(mean_seconds)", "(0.25,0.25)"
            ),
        ]
        for (view, values, rates, expected) in wanted {
            try app.insert(view, values)
            #expect(try database.analystRows("SELECT \(rates) FROM \(view)") == [expected], "\(view)")
        }
        try app.insert("category_funnel", day: "2026-11-21", ["delivered": 3, "received": 3, "received_responded": 1])
        #expect(
            try database.analystRows("SELECT response_rate, dismiss_rate FROM category_funnel WHERE day = '2026-11-21'")
                == ["(0.3333,)"])

        let empty: [(view: String, values: [String: Int], rates: String, expected: String)] = [
            ("category_funnel", ["delivered": 1], "response_rate, receipt_coverage::integer", "(,0)"),
            ("thread_funnel", ["delivered": 1], "response_rate, receipt_coverage::integer", "(,0)"),
            ("version_funnel", ["delivered": 1], "response_rate, receipt_coverage::integer", "(,0)"),
            ("category_actions", ["tapped_deliveries": 1], "median_seconds", "()"),
            ("story_funnel", ["stories": 1], "completion_rate, fallback_rate::integer", "(,0)"),
            ("story_page_funnel", ["last": 1], "click_rate, mean_dwell_seconds", "(,)"),
            ("silent_funnel", ["woken": 1, "no_result": 1], "new_data_rate", "()"),
        ]
        for (view, values, rates, expected) in empty {
            try app.insert(view, day: "2026-12-01", values)
            #expect(
                try database.analystRows("SELECT \(rates) FROM \(view) WHERE day = '2026-12-01'") == [expected],
                "\(view)")
        }
    }

    @Test(
        "are found by app and day through the table's key, and never open a generation that is not live",
        arguments: funnels)
    func plans(funnel: Funnel) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        try database.makeSecondLine()
        let app = try database.makeApp()
        try app.insertEverywhere(funnel.view, [funnel.counts[0]: 1])
        for days in ["= '2026-11-20'", "BETWEEN '2026-11-01' AND '2026-11-30'"] {
            let plan = try database.plan(
                of: "SELECT * FROM analytics.\(funnel.view) WHERE app = 'chat' AND day \(days)")
            let scans = plan.filter { $0.contains("Scan") && $0.contains(" on \(funnel.view)_") }
            #expect(scans.count >= 3)
            #expect(scans.filter { $0.contains("on \(funnel.view)_2 ") }.allSatisfy { $0.contains("never executed") })
            #expect(scans.filter { $0.contains("on \(funnel.view)_1 ") }.allSatisfy { $0.contains("actual rows") })
            let conditions = plan.filter { $0.contains(/Index Cond: \(\(app = app(_\d+)?\.id\) AND \(day/) }
            #expect(conditions.count >= 3, "\(plan.joined(separator: "\n"))")
        }
    }
}
