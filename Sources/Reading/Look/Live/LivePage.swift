internal import EventLog
internal import Postgres
internal import Reports
internal import Telemetry
internal import Values

/// Events as they commit, and whether an app is integrated rightly.
enum LivePage {
    private static let most = 60
    /// So many batches back, few first: a busy log has enough in one.
    private static let looksBack: [Int64] = [1, 4, 20]

    static func filter(_ state: PageState, isBound: Bool = false) -> LogTail.Filter {
        var filter = LogTail.Filter()
        filter.app = state.app
        filter.isBound = isBound
        filter.install = state.filters[.install].flatMap { UUID($0) }
        filter.type = state.filters[.type].flatMap { EventType(wire: $0) }
        return filter
    }

    static func read(
        _ state: PageState, _ scope: Scope, isBound: Bool, on connection: inout Connection
    ) throws(PostgresError) -> Sight {
        var sight = Sight(
            "Live", lead: "Events of \(state.app ?? "") as they commit, and what is refused and why.", state, nil)
        // Without scripts the browser reads the page anew.
        sight.refreshes = 5
        let checks = try connection.answer(checkList(state.app ?? "", scope.today), for: state)
        if let row = checks.grid.rows.first {
            sight.add("Is the app integrated?", [.checks(Integration.checks(row)), .source(checks)])
        }
        let (lines, head) = try newest(filter(state, isBound: isBound), on: &connection)
        sight.add(
            "Events",
            [
                .links(types(state)),
                .live(Sight.LiveList(lines: lines, position: head, none: none(head))),
                .words("The same in a terminal: bellwether events tail --app \(state.app ?? "")", .note),
            ])
        return sight
    }

    private static func none(_ head: LogPosition) -> String {
        head.isBeginning
            ? "No events yet."
            : "None of these in the newest \(looksBack[looksBack.count - 1]) batches of the log. New ones appear here."
    }

    private static func types(_ state: PageState) -> [Sight.Link] {
        [
            Sight.Link(
                text: "All events", address: state.with([.type: nil]).address, isCurrent: state.filters[.type] == nil)
        ]
            + EventType.allCases.map { type in
                Sight.Link(
                    text: type.name, address: state.with([.type: type.name]).address,
                    isCurrent: state.filters[.type] == type.name)
            }
    }

    /// The newest lines of the newest batches. Those of several logs in the order of their commits.
    private static func newest(
        _ filter: LogTail.Filter, on connection: inout Connection
    ) throws(PostgresError) -> (lines: [String], head: LogPosition) {
        try connection.execute(script: LogTails.settings.replacing("SET ", with: "SET LOCAL "))
        let cells = try LogTails.cells(on: &connection)
        let head = try LogTails.head(of: cells, on: &connection)
        var lines: [LogTail.Line] = []
        for batches in looksBack where lines.count < most {
            lines = []
            for cell in cells {
                var own: [LogTail.Line] = []
                var tail = LogTail(after: max(0, head[cell] - batches), filter, page: 100, of: cell)
                _ = try tail.advance(on: &connection) { line in
                    own.append(line)
                    if own.count > 4 * most { own.removeFirst(3 * most) }
                    return true
                }
                lines += own.suffix(most)
            }
        }
        if cells.count > 1 { lines.sort { $0.committedAt < $1.committedAt } }
        return (lines.suffix(most).map(\.text), head)
    }

    private static func checkList(_ app: String, _ today: CivilDate) -> Listing {
        let days = FunnelSQL.during(DayRange(28, upTo: today.advanced(by: 1)))
        return Listing(
            "checks", "What the checks are made of, of the last four weeks",
            """
            SELECT delivered, received, opened, tapped, responded, received_responded, accepted, rejected, wrong_clock,
                categories, unregistered
            FROM (
                SELECT sum(delivered) AS delivered, sum(received) AS received, sum(opened) AS opened,
                    sum(action_tapped + story_action_tapped) AS tapped, sum(responded) AS responded,
                    sum(received_responded) AS received_responded, count(DISTINCT nullif(category, '')) AS categories,
                    string_agg(DISTINCT nullif(category, ''), ', ') FILTER (WHERE NOT EXISTS (
                        SELECT FROM analytics.categories AS c
                        WHERE c.app = f.app AND c.category = f.category AND c.retired_at IS NULL)) AS unregistered
                FROM analytics.category_funnel AS f WHERE app = \(app) AND \(days)
            ) AS funnel
            CROSS JOIN (
                SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(corrected + clamped) AS wrong_clock
                FROM analytics.data_quality WHERE app = \(app) AND \(days)
            ) AS quality
            """)
    }
}

/// What an app developer wants to see before the first release, from what has come in.
enum Integration {
    static func checks(_ row: Grid.Row) -> [Sight.Check] {
        let count = { (column: String) in row.count(column) }
        func first(_ column: String, _ title: String, _ missing: String) -> Sight.Check {
            let number = count(column)
            return number > 0
                ? .init(state: .done, title: title, words: "\(Wording.count(number)) in four weeks.")
                : .init(state: .waiting, title: title, words: missing)
        }
        return [
            refused(count("accepted"), count("rejected")),
            first(
                "received", "First receipt.",
                "No receipt yet: is the service extension built in, and is mutable-content set?"),
            first("opened", "First opening.", "Nobody has opened a push yet: tap one."),
            first("tapped", "First tap.", "No button was tapped yet: long-press a push and tap one."),
            appGroup(count("received"), count("responded"), count("received_responded")),
            clock(count("accepted"), count("wrong_clock")),
            categories(count("categories"), row.text("unregistered")),
        ]
    }

    private static func refused(_ accepted: Int64, _ rejected: Int64) -> Sight.Check {
        let title = "Events arrive."
        if accepted == 0, rejected == 0 {
            return .init(
                state: .waiting, title: title, words: "Nothing has come yet: check the address and the write key.")
        }
        let words = "\(Wording.count(accepted)) accepted, \(Wording.count(rejected)) rejected in four weeks."
        return .init(state: accepted > 0 && rejected * 100 <= accepted ? .done : .wrong, title: title, words: words)
    }

    /// Without a common App Group, the service extension and the app are two installs: no push has a receipt and a
    /// response.
    private static func appGroup(_ received: Int64, _ responded: Int64, _ both: Int64) -> Sight.Check {
        let title = "App Group."
        if both > 0 {
            return .init(
                state: .done, title: title,
                words: "Receipts and responses come from the same installs: \(Wording.count(both)) pushes have both.")
        }
        guard received > 0, responded > 0 else {
            return .init(state: .waiting, title: title, words: "Needs a push with a receipt that somebody answers.")
        }
        return .init(
            state: .wrong, title: title,
            words:
                "No push has both a receipt and a response: the app and its service extension seem to be two installs. "
                + "Give both the same App Group.")
    }

    private static func clock(_ accepted: Int64, _ wrong: Int64) -> Sight.Check {
        let title = "Clocks."
        guard accepted > 0 else { return .init(state: .waiting, title: title, words: "No event yet.") }
        let words = "\(Wording.percent(Double(wrong) / Double(accepted))) of events had a time that was corrected."
        return .init(state: wrong * 20 <= accepted ? .done : .wrong, title: title, words: words)
    }

    private static func categories(_ known: Int64, _ unregistered: String?) -> Sight.Check {
        let title = "Categories."
        guard known > 0 else { return .init(state: .waiting, title: title, words: "No push has named a category yet.") }
        guard let unregistered else {
            return .init(state: .done, title: title, words: "All \(known) that were seen are registered.")
        }
        return .init(
            state: .wrong, title: title,
            words: "Not registered: \(unregistered.prefix(300)). Import them: bellwether categories import.")
    }
}
