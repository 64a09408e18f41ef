internal import Postgres

extension Recount.Column {
    /// SQL for the text by which people know a value of this column; `value` is SQL that gives one.
    package func text(of value: String) -> String {
        switch meaning {
        case .plain: "\(value)::text"
        case .app: "coalesce((SELECT slug FROM log.app WHERE id = \(value)), '#' || \(value))"
        case .response:
            """
            CASE \(value) WHEN -1 THEN 'opened' WHEN -2 THEN 'story_action' ELSE \(Recount.Column(name, .word).text(of: value)) END
            """
        case .word:
            """
            CASE WHEN \(value) = 0 THEN '' ELSE coalesce((SELECT word.value FROM log.word WHERE id = \(value)), '#' || \(value)) END
            """
        case .code(let names):
            """
            CASE WHEN \(value) = 0 THEN '' ELSE coalesce((\(Recount.array(names)))[\(value)], '#' || \(value)) END
            """
        case .flags(let names):
            """
            (SELECT coalesce(string_agg(coalesce(flag.name, '#' || bit), '+' ORDER BY bit), '') \
            FROM generate_series(0, 31) AS bit LEFT JOIN unnest(\(Recount.array(names))) WITH ORDINALITY AS flag (name, place) \
            ON flag.place = bit + 1 WHERE \(value) >> bit & 1 = 1)
            || CASE WHEN \(value) IS NULL THEN NULL ELSE '' END
            """
        case .time: #"to_char(\#(value) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"#
        }
    }
}

extension Recount {
    static func quoted(_ name: String) -> String { Statement.quoted(name) }

    /// Our own names as an array.
    fileprivate static func array(_ names: [String]) -> String {
        "ARRAY[\(names.map { "'\($0)'" }.joined(separator: ", "))]::text[]"
    }
}
