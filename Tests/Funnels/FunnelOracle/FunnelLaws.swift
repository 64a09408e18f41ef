/// The laws of the contract's section 4, once: of the oracle's funnels, of those that the projectors count, and of the
/// views.
///
/// A row is what a view shows: text by column, where two spellings of one letter are two texts. What a law says of one
/// row is written as it is read: `a + b ≤ c`.
package struct FunnelLaws {
    private typealias Row = [String: Label]

    private static let ofCounts = [
        "delivered = received + inferred", "received_responded ≤ received", "received_responded ≤ responded",
        "opened ≤ responded", "action_tapped ≤ responded", "story_action_tapped ≤ responded", "suppressed ≤ unanswered",
        "responded + unanswered ≤ delivered",
    ]

    private static let ofRows: [String: [String]] = [
        "category_actions": [
            "tapped_deliveries ≤ taps", "foreground_taps ≤ taps", "timed ≤ tapped_deliveries",
            "sole ≤ tapped_deliveries",
        ],
        "story_funnel": [
            "exit_clicked + exit_finished + exit_fallback + exit_abandoned = stories", "started ≤ stories",
            "completed ≤ stories",
        ],
        "story_page_funnel": [
            "reached ≤ planned", "shown ≤ reached", "shown ≤ views", "dwells ≤ views", "clicked ≤ reached",
            "exited ≤ reached",
        ],
        "media_funnel": ["received ≤ deliveries", "received_responded ≤ responded", "timed ≤ deliveries"],
        "send_delays": ["negative ≤ delayed"],
        "silent_funnel": ["new_data + no_data + failed + no_result = woken"],
        "install_days": [
            "authorized + provisional + ephemeral + denied + not_determined + unsaid = active", "turned_off ≤ active",
            "turned_on ≤ active",
        ],
        "muted_after": ["received_nothing ≤ installs"],
        "goal_funnel": [
            "converted_1h ≤ goals_1h", "converted_24h ≤ goals_24h", "converted_7d ≤ goals_7d",
            "converted_1h ≤ converted_24h", "converted_24h ≤ converted_7d", "goals_1h ≤ goals_24h",
            "goals_24h ≤ goals_7d",
        ],
        "goal_times": ["converted ≤ goals"],
    ]

    /// What each row of a view keeps to, in SQL.
    package static func condition(ofRowsIn table: FunnelTable) -> String {
        (["true"] + laws(of: table)).joined(separator: " AND ").replacing("≤", with: "<=")
    }

    private static func laws(of table: FunnelTable) -> [String] {
        (table.columns.contains("inferred") ? ofCounts : [])
            + (table.columns.contains("received_sole") ? ["received_sole ≤ sole"] : [])
            + (ofRows[table.view] ?? [])
    }

    /// By view.
    private let rows: [String: [Row]]
    /// The columns of each view that name a row.
    private let keys: [String: [String]]
    /// The views that count what became of deliveries.
    private let counting: [String]
    private let tables: [FunnelTable]
    private var broken: [String] = []

    /// A line for each law that these tables break. Funnels with sealed parts stand on more than the deliveries show:
    /// then only what needs no deliveries is asked.
    package static func broken(by tables: [FunnelTable], hasSealed: Bool = false) -> [String] {
        var laws = FunnelLaws(tables)
        laws.checkRows()
        laws.checkPages()
        laws.checkExposures()
        laws.checkTaps()
        laws.checkMuted()
        if !hasSealed {
            laws.checkDeliveries()
            laws.checkGoals()
        }
        return laws.broken
    }

    private init(_ tables: [FunnelTable]) {
        rows = Dictionary(
            uniqueKeysWithValues: tables.map { table in
                let named = table.rows.map { texts in
                    var row: Row = [:]
                    for (name, text) in zip(table.columns, texts) { row[name] = text.map { Label($0) } }
                    return row
                }
                return (table.view, named)
            })
        keys = Dictionary(
            uniqueKeysWithValues: tables.map { ($0.view, Array($0.columns.prefix($0.keyWidth))) })
        self.tables = tables
        counting = tables.filter { $0.columns.contains("inferred") }.map(\.view)
    }

    private mutating func expect(_ holds: Bool, _ law: String, _ view: String, _ row: Row) {
        guard !holds else { return }
        broken.append(
            "\(view): \(law) is broken by \(row.sorted { $0.key < $1.key }.map { "\($0)=\($1.text)" }.joined(separator: " "))"
        )
    }

    private static func number(_ row: Row?, _ column: String) -> Int64 {
        row?[column].flatMap { Int64($0.text) } ?? (row == nil ? 0 : .min)
    }

    /// The rows of a view by some of its columns.
    private func rows(of view: String, by columns: [String]) -> [[Label?]: [Row]] {
        Dictionary(grouping: rows[view] ?? []) { row in columns.map { row[$0] } }
    }

    private mutating func checkRows() {
        for table in tables where table.isSum {
            let (view, laws) = (table.view, Self.laws(of: table))
            let sides = laws.map { law in
                law.split(whereSeparator: { "=≤".contains($0) }).map { side in
                    side.split(separator: "+").map { $0.filter { $0 != " " } }
                }
            }
            for row in rows[view] ?? [] {
                expect(
                    row.values.allSatisfy { $0.text.first != "-" || Int64($0.text) == nil }, "no count is below 0",
                    view, row)
                for (law, sides) in zip(laws, sides) {
                    let sums = sides.map { side in side.reduce(0) { $0 &+ Self.number(row, $1) } }
                    expect(law.contains("=") ? sums[0] == sums[1] : sums[0] <= sums[1], law, view, row)
                }
            }
        }
        for row in rows[CategoryActions.view] ?? [] {
            let hasMedian = row[CategoryActions.medianColumn] != nil
            expect(
                hasMedian == (Self.number(row, "timed") > 0), "a median where something was timed",
                CategoryActions.view, row)
        }
    }

    /// Later pages are planned and reached no more often, none is left out, and none is left more often than it was
    /// looked at.
    private mutating func checkPages() {
        let view = StoryPageFunnel.view
        let key = keys[view] ?? []
        for pages in rows(of: view, by: key.filter { $0 != "page_index" }).values {
            let pages = pages.sorted { Self.number($0, "page_index") < Self.number($1, "page_index") }
            for (index, page) in pages.enumerated() {
                expect(Self.number(page, "page_index") == index, "pages have no gap", view, page)
                guard index > 0 else { continue }
                for column in ["planned", "reached"] {
                    expect(
                        Self.number(page, column) <= Self.number(pages[index - 1], column), "\(column) never rises",
                        view, page)
                }
            }
        }
        let told = rows(of: StoryPageAdvances.view, by: key)
        let untold = rows(of: StoryPageGaps.view, by: key)
        for page in rows[view] ?? [] {
            let place = key.map { page[$0] }
            let advances =
                (told[place] ?? []).reduce(0) {
                    $0 + Self.number($1, "auto_advances") + Self.number($1, "manual_advances")
                }
                + (untold[place] ?? []).reduce(0) { $0 + Self.number($1, "advances") }
            let (dwells, stayed) = (Self.number(page, "dwells"), Self.number(page, "dwell_ms"))
            expect(advances <= dwells, "advances ≤ dwells", view, page)
            expect(stayed <= dwells * StoryPageFunnel.longestDwell / 1_000, "a dwell is a minute at most", view, page)
        }
    }

    private mutating func checkExposures() {
        guard let key = keys[CategoryExposures.view] else { return }
        let funnels = rows(of: CategoryFunnel.view, by: key)
        let exposures = rows(of: CategoryExposures.view, by: key)
        for place in Set(funnels.keys).union(exposures.keys) {
            let (funnel, row) = (funnels[place]?.first, exposures[place]?.first)
            let (expanded, tapped) = (Self.number(funnel, "expanded"), Self.number(funnel, "action_tapped"))
            let exposed = Self.number(row, "exposed")
            expect(
                max(expanded, tapped) <= exposed && exposed <= expanded + tapped,
                "expanded, tapped ≤ exposed ≤ their sum",
                CategoryExposures.view, row ?? funnel ?? [:])
        }
    }

    private mutating func checkTaps() {
        let key = keys[CategoryFunnel.view] ?? []
        let funnels = rows(of: CategoryFunnel.view, by: key)
        for row in rows[CategoryActions.view] ?? [] {
            let tapped = Self.number(funnels[key.map { row[$0] }]?.first, "action_tapped")
            expect(Self.number(row, "tapped_deliveries") <= tapped, "tapped ≤ action_tapped", CategoryActions.view, row)
        }
    }

    /// Whoever turned notifications off did so after something, or after nothing.
    private mutating func checkMuted() {
        guard let key = keys[InstallDays.view] else { return }
        let muted = rows(of: MutedAfter.view, by: key)
        let days = rows(of: InstallDays.view, by: key)
        for place in Set(muted.keys).union(days.keys) {
            let installs = (muted[place] ?? []).reduce(0) { $0 + Self.number($1, "installs") }
            expect(
                installs == Self.number(days[place]?.first, "turned_off"), "muted installs = turned_off",
                MutedAfter.view,
                muted[place]?.first ?? [:])
        }
    }

    /// A goal counts once by each rule, so no rule tells more money than there is.
    private mutating func checkGoals() {
        func millionths(_ row: Row, _ column: String) -> Int64 {
            row[column].flatMap { Int64($0.text.replacing(".", with: "")) } ?? 0
        }
        let all = rows(of: GoalRow.view, by: ["app"])
        for (key, told) in rows(of: GoalFunnel.view, by: ["app", "rule"]) {
            let goals = all[[key[0]]] ?? []
            expect(
                told.reduce(0) { $0 + Self.number($1, "goals_7d") } <= Int64(goals.count),
                "goals_7d of a rule ≤ all goals", GoalFunnel.view, told[0])
            expect(
                told.reduce(0) { $0 + millionths($1, "value_7d") } <= goals.reduce(0) { $0 + millionths($1, "value") },
                "value_7d of a rule ≤ the values of all goals", GoalFunnel.view, told[0])
            for row in told {
                let values = ["value_1h", "value_24h", "value_7d"].map { millionths(row, $0) }
                expect(values == values.sorted(), "values rise with the window", GoalFunnel.view, row)
            }
        }
    }

    // MARK: The deliveries behind a funnel

    /// A funnel is the sum of the deliveries that stand beside it.
    private mutating func checkDeliveries() {
        func isTrue(_ column: String) -> (Row) -> Bool { { $0[column]?.text == "true" } }
        func exit(_ name: String) -> (Row) -> Bool { { $0["story_exit"]?.text == name } }
        func result(_ name: String?) -> (Row) -> Bool { { $0["fetch_result"]?.text == name } }
        let deliveries = rows[DeliveryRow.view] ?? []
        let visible = deliveries.filter { $0["silent"]?.text == "false" }
        let flags = Set((deliveries.first ?? [:]).filter { ["true", "false"].contains($0.value.text) }.keys)
        for view in counting {
            let columns =
                (rows[view]?.first?.keys.filter { flags.contains($0) && !(keys[view] ?? []).contains($0) } ?? [])
                .sorted()
            checkSums(
                view, of: visible, [("delivered", { _ in true })] + columns.map { ($0, isTrue($0)) })
            let behind = Dictionary(grouping: visible) { row in (keys[view] ?? []).map { row[$0] } }
            for row in rows[view] ?? [] {
                let onlyDismissed = (behind[(keys[view] ?? []).map { row[$0] }] ?? []).count {
                    $0["dismissed"]?.text == "true" && $0["responded"]?.text == "false"
                }
                expect(
                    Self.number(row, "responded") + Int64(onlyDismissed) + Self.number(row, "unanswered")
                        == Self.number(row, "delivered"), "responded + only dismissed + unanswered = delivered", view,
                    row)
            }
        }
        let soles = visible.filter(isTrue("sole")).map { row in
            row.merging(["action_id": row["first_response"] ?? .empty]) { $1 }
        }
        for table in tables where table.columns.contains("received_sole") {
            checkSums(table.view, of: soles, [("sole", { _ in true }), ("received_sole", isTrue("received"))])
        }
        checkSums(
            StoryFunnel.view, of: deliveries.filter { $0["story_exit"] != nil },
            [
                ("stories", { _ in true }), ("started", isTrue("story_started")),
                ("completed", isTrue("story_finished")),
                ("exit_clicked", exit("clicked")), ("exit_finished", exit("finished")),
                ("exit_fallback", exit("fallback")),
                ("exit_abandoned", exit("abandoned")),
            ])
        let pages = deliveries.filter { $0["story_exit"] != nil }.flatMap { row in
            (0..<max(0, Self.number(row, "pages"))).map { page in
                row.merging(["page_index": Label(String(page))]) { $1 }
            }
        }
        checkSums(
            StoryPageFunnel.view, of: pages,
            [
                ("planned", { _ in true }),
                ("reached", { $0["furthest"] != nil && Self.number($0, "furthest") >= Self.number($0, "page_index") }),
                ("exited", { $0["story_exit"]?.text == "abandoned" && $0["furthest"] == $0["page_index"] }),
            ])
        checkSums(
            SilentFunnel.view, of: deliveries.filter(isTrue("silent")),
            [
                ("woken", { _ in true }), ("new_data", result("new_data")), ("no_data", result("no_data")),
                ("failed", result("failed")), ("no_result", result(nil)),
            ])
        let media = visible.filter { $0["media_outcome"]?.text != "" }.map { row in
            let named = ["kind", "network", "outcome"].map { ($0, row["media_\($0)"] ?? .empty) }
            return row.merging(named) { $1 }
        }
        checkSums(
            MediaFunnel.view, by: ["app", "day", "category", "kind", "network", "outcome"], of: media,
            [
                ("deliveries", { _ in true }), ("responded", isTrue("responded")), ("received", isTrue("received")),
                ("received_responded", isTrue("received_responded")),
            ])
    }

    /// By the whole key, or by those of its columns that deliveries have, too.
    private mutating func checkSums(
        _ view: String, by some: [String]? = nil, of deliveries: [Row],
        _ columns: [(name: String, counts: (Row) -> Bool)]
    ) {
        let key = some ?? keys[view] ?? []
        let behind = Dictionary(grouping: deliveries) { row in key.map { row[$0] } }
        let shown = rows(of: view, by: key)
        for place in Set(behind.keys).union(shown.keys) {
            let row = shown[place]?.first
            for column in columns {
                let count = Int64((behind[place] ?? []).count(where: column.counts))
                expect(
                    (shown[place] ?? []).reduce(0) { $0 + Self.number($1, column.name) } == count,
                    "\(column.name) = its \(count) deliveries", view,
                    row ?? Row(uniqueKeysWithValues: zip(key, place.map { $0 ?? Label("null") })))
            }
        }
    }
}
