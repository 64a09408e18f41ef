internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// The deliveries behind a figure, a hundred at a time, one day after the other from the newest on.
///
/// On a day of very many they come as they lie in the database: sorting a million takes seconds, and nobody reads them
/// to the end.
enum DeliveriesPage {
    static let most = 100
    /// The deliveries of a day that are still sorted.
    private static let mostSorted: Int64 = 50_000
    /// Whoever wants more takes the CSV or the SQL.
    private static let mostPlaces: Int64 = 10_000

    /// The flags that a page can ask for, as SQL.
    private static let flags: [String: StaticString] = [
        "received": "received", "expanded": "expanded", "opened": "opened", "dismissed": "dismissed",
        "action_tapped": "action_tapped", "story_action_tapped": "story_action_tapped", "responded": "responded",
        "received_responded": "received_responded", "engaged": "engaged", "received_engaged": "received AND engaged",
        "unanswered": "unanswered", "suppressed": "suppressed", "story_started": "story_started",
        "fell_back": "story_exit = 'fallback'",
    ]

    /// Refuses what the addresses of this page cannot mean.
    static func check(_ state: PageState) throws(AddressFault) {
        if let flag = state.filters[.flag], flags[flag] == nil {
            throw AddressFault("'flag' is one of \(flags.keys.sorted().joined(separator: ", ")).")
        }
        if let after = state.after, Cursor(after) == nil {
            throw AddressFault("'after' is a day, and how many of its deliveries come before, like 2026-11-20 100.")
        }
    }

    /// The flag that the deliveries behind a column have; empty for the column of all; nil for a column that has none.
    static func flag(of column: String) -> String? {
        column == "delivered" ? "" : flags[column] == nil ? nil : column
    }

    static func read(_ state: PageState, _ scope: Scope, on connection: inout Connection) throws(PostgresError) -> Sight
    {
        let cursor = state.after.flatMap(Cursor.init)
        let day = min(max(cursor?.day ?? scope.days.last, scope.days.first), scope.days.last)
        var sight = Sight(
            "Deliveries", lead: "One row for each notification on each install, \(told(state)). \(Wording.long(day)).",
            state, scope)
        let known: Int64 = try connection.query(
            """
            SELECT coalesce(sum(delivered), 0)::bigint FROM analytics.category_funnel WHERE app = \(state.app ?? "")
                AND day = \(day)
            """
        )[0].get(0)
        let isSorted = known <= mostSorted
        var listing = Listing(
            "deliveries", "Deliveries of \(Wording.long(day)), \(scope.timeZone) time",
            """
            SELECT install_id, notification_key, category, campaign, variant, app_version, received_at,
                \(FunnelSQL.local("received_at", scope)) AS received_locally, expanded, opened, action_tapped,
                dismissed, first_response, first_response_at
            FROM analytics.deliveries
            WHERE app = \(state.app ?? "") AND day = \(day) AND NOT silent\(condition(state))
            \(isSorted ? "ORDER BY install_id, notification_key " : "" as Query)OFFSET \(cursor?.place ?? 0)
            """)
        listing.most = most
        // One column says what happened; the SQL has a flag for each.
        let flags = ["expanded", "opened", "action_tapped", "dismissed"]
        listing.hidden = Set(flags + ["received_at", "first_response_at"])
        listing.added = [
            { row in
                let words = flags.filter { row.flag($0) }.map { Columns.title($0).lowercased() }
                return ("What happened", Table.Cell(words.isEmpty ? "–" : words.joined(separator: ", ")))
            }
        ]
        listing.none = cursor?.place ?? 0 == 0 ? "No such delivery on this day." : "No more on this day."
        listing.link = { row, column in
            guard column == "install_id", let install = row.uuid("install_id") else { return nil }
            var page = PageState(.install, app: state.app).on(day)
            page.range = state.days
            page.filters = [.install: "\(install)"]
            return page
        }
        let answer = try connection.scanning(listing, for: state, inOrder: !isSorted)
        let order = Sight.Piece.words(
            "There are too many on this day to sort them. They come as they lie in the database, and while the day "
                + "still changes one may move to another page.", .note)
        sight.add(
            "Deliveries", [.answer(answer), .links(further(answer, state, scope, day))] + (isSorted ? [] : [order]))
        return sight
    }

    /// The next hundred, or the day before.
    private static func further(_ answer: Answer, _ state: PageState, _ scope: Scope, _ day: CivilDate) -> [Sight.Link]
    {
        var (links, next) = ([Sight.Link](), state)
        if state.after.flatMap(Cursor.init)?.place ?? 0 > 0 {
            links.append(.init(text: "First page", address: state.at(day, of: scope.days).address))
        }
        let place = (state.after.flatMap(Cursor.init)?.place ?? 0) + Int64(most)
        if answer.isCut, place < mostPlaces {
            next.after = "\(day) \(place)"
            links.append(.init(text: "Next \(most)", address: next.address))
        }
        if day < scope.days.last {
            let after = day.advanced(by: 1)
            let address = state.at(after, of: scope.days).address
            links.append(.init(text: "The day after, \(Wording.brief(after))", address: address))
        }
        if day > scope.days.first {
            let before = day.advanced(by: -1)
            next.after = "\(before)"
            links.append(.init(text: "The day before, \(Wording.brief(before))", address: next.address))
        }
        return links
    }

    /// The day, and how many of its deliveries came on the pages before.
    private struct Cursor {
        let day: CivilDate
        var place: Int64 = 0

        init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let day = CivilDate(text: parts[0]) else { return nil }
            self.day = day
            guard parts.count == 2 else { return }
            guard let place = Int64(parts[1]) else { return nil }
            self.place = min(max(place, 0), mostPlaces)
        }
    }

    private static func condition(_ state: PageState) -> Query {
        var condition: Query = ""
        for filter in PageState.Filter.allCases {
            guard let value = state.filters[filter] else { continue }
            switch filter {
            case .category: condition = "\(condition) AND category = \(value)"
            case .campaign: condition = "\(condition) AND campaign = \(value)"
            case .variant: condition = "\(condition) AND variant = \(value)"
            case .thread: condition = "\(condition) AND thread = \(value)"
            case .platform: condition = "\(condition) AND platform = \(value)"
            case .version: condition = "\(condition) AND app_version = \(value)"
            case .response: condition = "\(condition) AND first_response = \(value)"
            case .flag: condition = "\(condition) AND \(sql: flags[value] ?? "false")"
            case .type, .install, .notification, .experiment, .goal, .rule, .against: break
            }
        }
        return condition
    }

    private static func told(_ state: PageState) -> String {
        let parts = PageState.Filter.allCases.compactMap { filter in
            state.filters[filter].map { "\(filter.rawValue) \(Wording.name(String(printable: $0), else: "(none)"))" }
        }
        return parts.isEmpty ? "of the app" : parts.joined(separator: ", ")
    }
}
