internal import Telemetry

/// The event views, derived from the catalogue: `log.opened_event` with a column of ids or codes for each member, and
/// the analysts' views with names.
package enum EventViews {
    /// Creates all of them. They go together: a view that gets a new column in the middle must be created again.
    package static let sql = """
        -- Why: rows of log.event are packed. log.opened_event opens them, for the projections and for an owner in psql; the
        -- views of analytics show names. Made of the catalogue of events: what is said of a member there stands here.
        DO $views$
        DECLARE
            views text := $sql$
        \(counted.joined(separator: ";\n"));
        \(opened);
        \(dictionaries.joined(separator: ";\n"));
        \(analysts.map(\.sql).joined(separator: ";\n"));
        $sql$;
        BEGIN
            EXECUTE views;
        EXCEPTION WHEN invalid_table_definition THEN
            DROP VIEW \((analysts.reversed().map(\.name) + [
            "log.named_context", "log.named_device", "log.opened_event", "log.counted_context", "log.counted_device",
        ]).joined(separator: ", "));
            EXECUTE views;
        END
        $views$;

        \(comments.joined(separator: "\n"))

        GRANT SELECT ON log.opened_event TO bellwether_projector;
        GRANT SELECT ON \(analysts.map(\.name).joined(separator: ", ")) TO bellwether_analyst;

        """

    /// A column besides the members: what the log itself knows about an event.
    private static func derived(_ name: String, _ comment: String, _ opened: String, _ shown: String? = nil)
        -> EventColumn
    {
        EventColumn(name: name, comment: comment, opened: opened, isCommon: true) { _ in shown ?? opened }
    }

    /// In the order in which the views show them.
    private static let columns: [EventColumn] = {
        var columns: [EventColumn] = []
        for member in Member.allCases {
            if let column = EventColumn(of: member) {
                if let index = columns.firstIndex(where: { $0.name == column.name }) {
                    // The event's own value overrides its source's.
                    columns[index] = columns[index].overridden(by: column)
                } else {
                    columns.append(column)
                }
            }
            switch member {
            case .deviceAt:
                columns += [
                    derived(
                        "occurred_at",
                        "When it happened, as far as is known; see time_source. "
                            + "Events are ordered by (occurred_at, seq or 0, event_id)",
                        "coalesce(e.occurred_at, e.device_at)"),
                    derived(
                        "received_at",
                        "When the service received it, to a tenth of a second; "
                            + "exact if occurred_at was computed from it",
                        "coalesce(e.received_at, b.received_at)"),
                    derived(
                        "time_source",
                        "Where occurred_at comes from: device (the device's clock, unchanged), corrected (the clock "
                            + "was more than 5 minutes off), clamped (the time was ahead of the server, "
                            + "so the time of receipt counts)",
                        "(e.codes >> 15 & 3)::smallint",
                        EventColumn.name(of: "e.codes >> 15 & 3", TimeSource.allCases.map(\.wire))),
                ]
            case .seq:
                columns.append(
                    derived(
                        "batch",
                        "Position in the log: number of the commit that stored the event. "
                            + "Numbers follow commit order and have no gaps",
                        "b.number"))
            case .installID:
                columns.append(
                    derived(
                        "notification_key",
                        "Which notification it is: the normalised FCM message ID, else delivery_id, else "
                            + "notification_id. Together with app and install_id it identifies the delivery. "
                            + "Null for an event about the install itself",
                        "e.notification_key"))
            default: break
            }
        }
        columns.append(
            derived(
                "extra",
                "What was posted beyond the columns, as JSON: unknown members, unknown values of enumerated members, "
                    + "and values shown as (other). {\"_dropped\": bytes} if it was larger than 4 KiB",
                "e.extra"))
        return columns
    }()

    private static let appComment = "Slug of the app that the event belongs to"

    private static let opened = """
        CREATE OR REPLACE VIEW log.opened_event AS
        \(opening(
            columns, of: "log.event",
            besides: """
                e.app, coalesce(e.key, (SELECT min(k.id) FROM log.api_key AS k WHERE k.app = e.app)) AS key, e.batch_id,
                    (e.codes >> 4 & 63)::smallint AS shard
                """))
        """

    /// SQL that opens some columns of the packed rows that a copy has as `log.event` has them, with copies of
    /// `log.counted_device` and `log.counted_context`. `besides` are columns of the row `e` as it is.
    package static func opening(
        _ names: Set<String>, of copy: String, devices: String, contexts: String, besides: String
    ) -> String {
        opening(
            columns.filter { names.contains($0.name) }, of: copy, devices: devices, contexts: contexts,
            besides: besides)
    }

    // The LEFT JOINs are on primary keys, so PostgreSQL skips those whose columns a query does not use.
    private static func opening(
        _ columns: [EventColumn], of rows: String, devices: String = "log.counted_device",
        contexts: String = "log.counted_context", besides: String
    ) -> String {
        """
        SELECT
            \(besides),
            \(columns.map { "\($0.opened) AS \(quoted($0.name))" }.joined(separator: ",\n    "))
        FROM \(rows) AS e
        LEFT JOIN log.batch AS b ON b.id = e.batch_id
        LEFT JOIN \(devices) AS d ON d.id = e.device
        LEFT JOIN \(contexts) AS c ON c.id = e.context
        LEFT JOIN log.word AS word_1 ON word_1.id = e.word_1 AND word_1.counts_as IS NOT NULL
        LEFT JOIN log.word AS word_2 ON word_2.id = e.word_2 AND word_2.counts_as IS NOT NULL
        """
    }

    /// The ids in these tables, each replaced by the id of the word that it counts as.
    private static let counted = [("device", Combination.deviceWords), ("context", Combination.contextWords)].map {
        table, kinds in
        let names = kinds.compactMap(\.member.declaration.column)
        let columns = Combination.columns(of: table == "device" ? .device : .context).map { column in
            names.contains(column)
                ? "coalesce(\(column).counts_as, t.\(column)) AS \(column)" : "t.\(quoted(column))"
        }
        return """
            CREATE OR REPLACE VIEW log.counted_\(table) AS
            SELECT t.id, \(columns.joined(separator: ", "))
            FROM log.\(table) AS t
            \(names.map { "LEFT JOIN log.word AS \($0) ON \($0).id = t.\($0) AND \($0).counts_as IS NOT NULL" }.joined(separator: "\n"))
            """
    }

    /// The names for the ids in these tables. These tables are small, so names are joined once, and each event looks up
    /// one row.
    private static let dictionaries = [("device", Combination.deviceWords), ("context", Combination.contextWords)].map {
        table, kinds in
        let names = kinds.compactMap(\.member.declaration.column)
        let codes = Member.allCases.compactMap { member in
            if case (.device, .code(let words)) = (member.declaration.storage, member.declaration.kind),
                table == "device"
            {
                "\(EventColumn.name(of: "t.\(quoted(member.declaration.column ?? ""))", words)) AS "
                    + "\(quoted(member.declaration.column ?? ""))"
            } else {
                String?.none
            }
        }
        return """
            CREATE OR REPLACE VIEW log.named_\(table) AS
            SELECT t.id, \((names.map { "\($0).value AS \($0)" } + codes).joined(separator: ", "))
            FROM log.\(table) AS t
            \(names.map { "LEFT JOIN log.word AS \($0) ON \($0).id = t.\($0)" }.joined(separator: "\n"))
            """
    }

    /// A view for analysts: the events of one subject with that subject's columns.
    private struct Subject {
        let name: String
        let comment: String
        let types: EventTypes
        /// An extra column: name, value, comment.
        var own: (name: String, value: String, comment: String)?

        var columns: [EventColumn] {
            EventViews.columns.filter { $0.isCommon || !$0.types.intersection(types).isEmpty }
        }

        // The LEFT JOINs are on primary keys, so PostgreSQL skips those whose columns a query does not use.
        var sql: String {
            var list = columns.map { "\($0.shown(types)) AS \(quoted($0.name))" }
            if let own { list.insert("\(own.value) AS \(own.name)", at: list.count - 1) }
            let codes = EventType.allCases.filter { types.contains($0) }.map { "\($0.rawValue)" }
            return """
                CREATE OR REPLACE VIEW \(name) AS
                SELECT app.slug AS app, \(list.joined(separator: ",\n    "))
                FROM log.event AS e
                JOIN log.app AS app ON app.id = e.app
                LEFT JOIN log.batch AS b ON b.id = e.batch_id
                LEFT JOIN log.named_device AS d ON d.id = e.device
                LEFT JOIN log.named_context AS c ON c.id = e.context
                LEFT JOIN log.word AS word_1 ON word_1.id = e.word_1
                LEFT JOIN log.word AS word_2 ON word_2.id = e.word_2
                WHERE \(ClusterMap.isShown("(e.codes >> 4 & 63)::smallint"))\(
                    types == .all ? "" : " AND e.codes >> 10 & 31 IN (\(codes.joined(separator: ", ")))")
                """
        }
    }

    private static let analysts = [
        Subject(name: "analytics.events", comment: "Every stored event, append-only", types: .all),
        Subject(
            name: "analytics.receipts",
            comment: "The events which say that a notification arrived on a device. A delivery can have several",
            types: EventTypes(.notificationReceived)),
        Subject(
            name: "analytics.opens",
            comment: "Openings, expansions (the content extension was shown) and explicit dismissals; type says which",
            types: EventTypes(.notificationExpanded, .notificationOpened, .notificationDismissed)),
        Subject(
            name: "analytics.action_taps",
            comment:
                "Taps of notification buttons (action.tapped) and of a story page's call "
                + "to action (story.action_tapped)",
            types: EventTypes(.actionTapped, .storyActionTapped)),
        Subject(
            name: "analytics.story_events",
            comment:
                "What happened in Push Stories: started, page shown, call to action tapped, finished, "
                + "fallback shown. A looping or rewound story shows a page more than once",
            types: EventTypes(.storyStarted, .storyPageShown, .storyActionTapped, .storyFinished, .storyFallbackShown),
            own: (
                "fallback_shown", "e.codes >> 10 & 31 = \(EventType.storyFallbackShown.rawValue)",
                "Whether the fallback was shown instead of pages"
            )),
    ]

    /// Ends the comment of every view that counts people's responses: what its numbers cannot include.
    package static let unreported =
        "What iOS never reports: a swipe or clear of a category without custom dismiss action, "
        + "an opening by the app's icon, a push that nobody received."

    private static let comments: [String] = {
        var comments = [
            "COMMENT ON VIEW log.opened_event IS 'Every stored event with a column for each member. Words are ids of "
                + "log.word (the id of the word that each one counts as), codes are numbers';"
        ]
        for subject in analysts {
            comments.append("COMMENT ON VIEW \(subject.name) IS \(literal("\(subject.comment). \(unreported)"));")
            comments.append("COMMENT ON COLUMN \(subject.name).app IS \(literal(appComment));")
            let own = subject.own.map { [($0.name, $0.comment)] } ?? []
            for (column, comment) in subject.columns.map({ (quoted($0.name), $0.comment) }) + own {
                comments.append("COMMENT ON COLUMN \(subject.name).\(column) IS \(literal(comment));")
            }
        }
        return comments
    }()

    static func quoted(_ name: String) -> String { name == "authorization" ? "\"authorization\"" : name }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
