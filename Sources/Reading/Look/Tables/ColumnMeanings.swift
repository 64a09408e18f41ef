internal import Postgres

/// What the columns of a table mean: the comments of the views that it is read from. What a page computes itself is
/// said here.
enum ColumnMeanings {
    /// The view that is named first tells.
    static func read(
        of columns: [String], in views: [String], on connection: inout Connection
    ) throws(PostgresError) -> [String: String] {
        let bases = columns.map(base)
        var said: [String: String] = [:]
        for row in try connection.query(
            """
            SELECT DISTINCT ON (a.attname) a.attname::text, col_description(a.attrelid, a.attnum)
            FROM unnest(\(views)) WITH ORDINALITY AS v (name, place)
            JOIN pg_attribute AS a ON a.attrelid = to_regclass('analytics.' || quote_ident(v.name)) AND a.attnum > 0
            WHERE a.attname = ANY (\(bases.map(\.name))::text[]) ORDER BY a.attname, v.place
            """)
        { said[try row.get(0)] = try row.optional(1) }
        var meanings: [String: String] = [:]
        for (column, base) in zip(columns, bases) {
            meanings[column] = computed[column] ?? said[base.name].map { $0 + base.ending } ?? unlessSaid[column]
        }
        return meanings
    }

    /// A column of other days or of another telling is named after the one that it is compared with.
    private static func base(_ column: String) -> (name: String, ending: String) {
        if column.hasSuffix("_before") { return (String(column.dropLast(7)), ". In the days compared with") }
        if let own = Columns.other(column) { return (own, ". Of the version compared with") }
        if column.hasPrefix("told_") { return (String(column.dropFirst(5)), ". As the first final report told it") }
        for arm in ["treated", "control"] where column.hasPrefix(arm + "_") {
            return (String(column.dropFirst(arm.count + 1)), ". Of the \(arm) arm, up to the end of the day")
        }
        return (column, "")
    }

    /// Views have a column of this name, too.
    private static let unlessSaid = ["detail": "What else the event says"]

    private static let computed = [
        "days": "chosen: the days of the page; compared: those that they are compared with",
        "by_day": "Deliveries of each day, as day=number",
        "delivered_low": "Usual: the fewest deliveries on the same weekday in the four weeks before",
        "delivered_high": "Usual: the most deliveries on the same weekday in the four weeks before",
        "response_low": "Usual: the lowest response_rate on the same weekday in the four weeks before",
        "response_high": "Usual: the highest response_rate on the same weekday in the four weeks before",
        "engagement_low": "Usual: the lowest engagement_rate on the same weekday in the four weeks before",
        "engagement_high": "Usual: the highest engagement_rate on the same weekday in the four weeks before",
        "coverage_low": "Usual: the lowest receipt_coverage on the same weekday in the four weeks before",
        "coverage_high": "Usual: the highest receipt_coverage on the same weekday in the four weeks before",
        "engagement_before": "engagement_rate in the days compared with",
        "allowed_rate": "Installs that may show notifications, of those that say what they may",
        "prominent_rate": "Installs that show notifications where they are noticed, of those that say where",
        "received_locally": "received_at as clocks in the app's time zone showed it",
        "made_locally": "made_at as clocks in the app's time zone showed it",
        "events": "How many events; in a list of reasons, how many were rejected for this one",
        "last_seen": "When the last of these events occurred",
        "turned_off_at": "When notifications were last turned off",
        "last_receipt": "When the last notification arrived, as far as receipts tell",
        "receipt_version": "Version of the app that told of the last receipt",
        "tapped": "Taps of buttons and of the calls to action of stories, by delivery",
        "wrong_clock": "Events whose time was corrected or clamped",
        "categories": "How many categories deliveries have named",
        "treated_rate": "treated_reached / treated_installs",
        "control_rate": "control_reached / control_installs",
        "unregistered": "Categories that deliveries have named and that are not registered",
    ]
}
