internal import Telemetry

/// The views that show events, made of the catalogue: `log.opened_event` with a column for each member, as ids and codes,
/// and with names those of the analysts.
package enum EventViews {
    /// Makes all of them. They go together: a view to which a column comes in the middle is made anew.
    package static let sql = """
        -- Why: rows of log.event are packed. log.opened_event opens them, for the projections and for an owner in psql; the
        -- views of analytics show names. Made of the catalogue of events: what is said of a member there stands here.
        DO $views$
        DECLARE
            views text := $sql$
        \(opened);
        \(named);
        \(analysts.map(\.sql).joined(separator: ";\n"));
        $sql$;
        BEGIN
            EXECUTE views;
        EXCEPTION WHEN invalid_table_definition THEN
            DROP VIEW \((analysts.reversed().map(\.name) + ["log.named_event", "log.opened_event"]).joined(separator: ", "));
            EXECUTE views;
        END
        $views$;

        \(comments.joined(separator: "\n"))

        GRANT SELECT ON log.opened_event TO bellwether_projector;
        GRANT SELECT ON \(analysts.map(\.name).joined(separator: ", ")) TO bellwether_analyst;

        """

    private static let type = "(e.codes >> 10 & 31)"

    /// A column of `log.opened_event`. Its names need the views that follow.
    fileprivate struct Column {
        let name: String
        let comment: String
        /// Of the row `e` and what it points to.
        let value: String
        /// Of the row `o` of `log.opened_event`: what people read.
        let shown: String
        /// Where its value is a word of the dictionary.
        var isWord = false
        var types = EventTypes.all
        /// Whether it says something of the event itself, and not of what happened.
        var isCommon = false
    }

    /// Beside the members: what the log itself knows of an event.
    private static func derived(_ name: String, _ comment: String, _ value: String, _ shown: String? = nil) -> Column {
        Column(name: name, comment: comment, value: value, shown: shown ?? "o.\(name)", isCommon: true)
    }

    /// In the order in which they are shown.
    private static let columns: [Column] = {
        var columns: [Column] = []
        for member in Member.allCases {
            if let column = Column(of: member) {
                if let place = columns.firstIndex(where: { $0.name == column.name }) {
                    // What the event itself says outranks what its source says.
                    columns[place] = columns[place].overridden(by: column)
                } else {
                    columns.append(column)
                }
            }
            switch member {
            case .deviceAt:
                columns += [
                    derived(
                        "occurred_at",
                        "When it happened, as far as we can tell; see time_source. The order of events is (occurred_at, seq or 0, event_id)",
                        "coalesce(e.occurred_at, e.device_at)"),
                    derived(
                        "received_at",
                        "When the ingestion service received it, to a tenth of a second; exact where occurred_at was made of it",
                        "coalesce(e.received_at, b.received_at)"),
                    derived(
                        "time_source",
                        "Where occurred_at comes from: device (taken as it is), corrected (the clock was over 5 minutes off), clamped (it lay ahead of the server)",
                        "(e.codes >> 15 & 3)::smallint", name(of: "o.time_source", TimeSource.allCases.map(\.wire))),
                ]
            case .seq:
                columns.append(
                    derived(
                        "batch",
                        "Position in the log: number of the commit that stored the event. Dense and in commit order",
                        "b.number"))
            case .installID:
                columns.append(
                    derived(
                        "notification_key",
                        "Which notification: the normalised FCM message ID, else delivery_id, else notification_id. With app and install_id it names the delivery. Null for an event about the install itself",
                        "e.notification_key"))
            default: break
            }
        }
        columns.append(
            derived(
                "extra",
                "What was posted beyond the columns, as JSON: unknown members, and raw values of enumerated members that we do not know. {\"_dropped\": bytes} where it was over 4 KiB",
                "e.extra"))
        return columns
    }()

    private static let appComment = "Slug of the app the event belongs to"

    private static let opened = """
        CREATE OR REPLACE VIEW log.opened_event AS
        SELECT
            e.app, coalesce(e.key, (SELECT min(k.id) FROM log.api_key AS k WHERE k.app = e.app)) AS key, e.batch_id,
            (e.codes >> 4 & 63)::smallint AS shard,
            \(columns.map { "\($0.value) AS \(quoted($0.name))" }.joined(separator: ",\n    "))
        FROM log.event AS e
        LEFT JOIN log.batch AS b ON b.id = e.batch_id
        LEFT JOIN log.device AS d ON d.id = e.device
        LEFT JOIN log.context AS c ON c.id = e.context
        """

    // The LEFT JOINs are on primary keys, so PostgreSQL leaves out those whose column a query does not ask for.
    private static let named = """
        CREATE OR REPLACE VIEW log.named_event AS
        SELECT
            app.slug AS app, o.type AS type_code,
            \(columns.map { "\($0.shown) AS \(quoted($0.name))" }.joined(separator: ",\n    "))
        FROM log.opened_event AS o
        JOIN log.app AS app ON app.id = o.app
        \(columns.filter(\.isWord).map { column in
            "LEFT JOIN log.word AS \(quoted("\(column.name)_word")) ON \(quoted("\(column.name)_word")).id = o.\(column.name)"
        }.joined(separator: "\n"))
        """

    /// A view of the analysts: the events of one subject with the columns that subject has.
    private struct Subject {
        let name: String
        let comment: String
        let types: EventTypes
        /// A column of its own: name, value, comment.
        var own: (name: String, value: String, comment: String)?

        var columns: [Column] {
            EventViews.columns.filter { $0.isCommon || !$0.types.intersection(types).isEmpty }
        }

        var sql: String {
            var list = columns.map { quoted($0.name) }
            if let own { list.insert("\(own.value) AS \(own.name)", at: list.count - 1) }
            let codes = EventType.allCases.filter { types.contains($0) }.map { "\($0.rawValue)" }
            return """
                CREATE OR REPLACE VIEW \(name) AS
                SELECT app, \(list.joined(separator: ", "))
                FROM log.named_event\(types == .all ? "" : "\nWHERE type_code IN (\(codes.joined(separator: ", ")))")
                """
        }
    }

    private static let analysts = [
        Subject(name: "analytics.events", comment: "Every stored event, append-only", types: .all),
        Subject(
            name: "analytics.receipts",
            comment: "The events that say a notification arrived on a device. A delivery can have several",
            types: EventTypes(.notificationReceived)),
        Subject(
            name: "analytics.opens",
            comment: "Openings, expansions (the content extension was shown) and explicit dismissals: type tells which",
            types: EventTypes(.notificationExpanded, .notificationOpened, .notificationDismissed)),
        Subject(
            name: "analytics.action_taps",
            comment:
                "Taps of notification buttons (action.tapped) and of a story page's call to action (story.action_tapped)",
            types: EventTypes(.actionTapped, .storyActionTapped)),
        Subject(
            name: "analytics.story_events",
            comment:
                "What happened in Push Stories: started, page shown, call to action tapped, finished, fallback shown. A looping or re-wound story shows a page more than once",
            types: EventTypes(.storyStarted, .storyPageShown, .storyActionTapped, .storyFinished, .storyFallbackShown),
            own: (
                "fallback_shown", "type_code = \(EventType.storyFallbackShown.rawValue)",
                "Whether this event says that the fallback was shown instead of pages"
            )),
    ]

    private static let blind =
        "What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app's icon, a push that nobody received"

    private static let comments: [String] = {
        var comments = [
            "COMMENT ON VIEW log.opened_event IS 'Every stored event with a column for each member: words as ids of log.word, codes as numbers';"
        ]
        for subject in analysts {
            comments.append("COMMENT ON VIEW \(subject.name) IS \(literal("\(subject.comment). \(blind)."));")
            comments.append("COMMENT ON COLUMN \(subject.name).app IS \(literal(appComment));")
            let own = subject.own.map { [($0.name, $0.comment)] } ?? []
            for (column, comment) in subject.columns.map({ (quoted($0.name), $0.comment) }) + own {
                comments.append("COMMENT ON COLUMN \(subject.name).\(column) IS \(literal(comment));")
            }
        }
        return comments
    }()

    /// A code's name is its place in the list.
    private static func name(of value: String, _ words: [String]) -> String {
        "('{\(words.joined(separator: ","))}'::text[])[\(value)]"
    }

    fileprivate static func quoted(_ name: String) -> String { name == "authorization" ? "\"authorization\"" : name }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}

extension EventViews.Column {
    /// Nil for an object.
    init?(of member: Member) {
        let declaration = member.declaration
        guard let name = declaration.column else { return nil }
        let column = "o.\(EventViews.quoted(name))"
        self.init(
            name: name, comment: declaration.comment, value: EventViews.Column.value(of: declaration, name),
            shown: column, types: declaration.types,
            isCommon: declaration.types.isSuperset(of: EventTypes.all.subtracting(EventTypes(.permissionChanged))))
        switch declaration.kind {
        case .type:
            self = shown(by: "('{\(EventType.allCases.map(\.wire).joined(separator: ","))}'::text[])[\(column)]")
        case .code(let words): self = shown(by: "('{\(words.joined(separator: ","))}'::text[])[\(column)]")
        case .codes(let words):
            let each = words.enumerated().map { "CASE WHEN \(column) & \(1 << $0) <> 0 THEN '\($1)' END" }
            self = shown(
                by:
                    "CASE WHEN \(column) IS NOT NULL THEN array_remove(ARRAY[\(each.joined(separator: ", "))], NULL) END"
            )
        case .word:
            self = shown(by: "\(name)_word.value")
            isWord = true
        case .uuid, .time, .object, .text, .boolean, .integer, .number: break
        }
    }

    private func shown(by expression: String) -> Self {
        Self(
            name: name, comment: comment, value: value, shown: expression, isWord: isWord, types: types,
            isCommon: isCommon)
    }

    func overridden(by own: Self) -> Self {
        Self(
            name: name, comment: comment, value: "coalesce(\(own.value), \(value))", shown: shown, isWord: isWord,
            types: types.union(own.types), isCommon: isCommon)
    }

    private static func value(of declaration: Declaration, _ name: String) -> String {
        let types = EventType.allCases.filter { declaration.types.contains($0) }.map { "\($0.rawValue)" }
        func ofItsTypes(_ value: String) -> String {
            "CASE WHEN (e.codes >> 10 & 31) IN (\(types.joined(separator: ", "))) THEN \(value) END"
        }
        switch declaration.storage {
        case .none: return "NULL"
        case .column(let column):
            guard case .integer = declaration.kind else { return "e.\(column)" }
            return "coalesce(e.\(column)::bigint, (e.rare ->> '\(name)')::bigint)"
        case .key(let column): return key(column)
        case .common(let bits): return opened(bits, of: "e.codes", declaration.kind)
        case .own(let bits): return ofItsTypes(opened(bits, of: "e.own", declaration.kind))
        case .device: return "nullif(d.\(EventViews.quoted(name)), 0)"
        case .context: return "nullif(c.\(name), 0)"
        case .word(let place): return ofItsTypes("e.word_\(place)")
        case .amount(let place):
            return ofItsTypes(
                "coalesce(e.amount_\(place)::bigint, (e.rare ->> '\(name)')::bigint)::\(type(of: declaration.kind))")
        case .rare:
            let text = "(e.rare ->> '\(name)')"
            return if case .text = declaration.kind { text } else { "\(text)::\(type(of: declaration.kind))" }
        }
    }

    /// The id that became the key is stored as the key alone.
    private static func key(_ column: String) -> String {
        let source = "(e.codes >> 17 & 3)"
        return switch column {
        case "fcm_message_id":
            """
            CASE WHEN \(source) = 1 THEN coalesce(
                '0:' || e.notification_key || '%' || encode(e.fcm_suffix, 'hex'), e.rare ->> 'fcm_message_id', e.notification_key) END
            """
        case "delivery_id": "CASE WHEN \(source) = 2 THEN e.notification_key ELSE e.delivery_id END"
        default: "CASE WHEN \(source) = 3 THEN e.notification_key ELSE e.\(column) END"
        }
    }

    private static func opened(_ bits: Declaration.Bits, of field: String, _ kind: Declaration.Kind) -> String {
        let value = "(\(field) >> \(bits.first) & \((1 << bits.count) - 1))"
        return switch kind {
        case .boolean: "CASE \(value) WHEN 1 THEN false WHEN 2 THEN true END"
        case .integer(let range): "(nullif(\(value), 0) + \(range.lowerBound - 1))::\(type(of: kind))"
        case .codes: "CASE WHEN \(value) & 1 = 1 THEN (\(value) >> 1)::smallint END"
        default: "nullif(\(value), 0)::smallint"
        }
    }

    private static func type(of kind: Declaration.Kind) -> String {
        switch kind {
        case .integer(let range) where range.upperBound <= Int16.max: "smallint"
        case .integer(let range) where range.upperBound <= Int32.max: "integer"
        case .number: "double precision"
        default: "bigint"
        }
    }
}
