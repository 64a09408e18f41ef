package import Postgres
package import Values

/// A report as it was first printed.
package struct KeptReport: Sendable {
    package var place: Place
    package var documents: ReportDocuments

    /// Which of the kept reports it is.
    package struct Place: Hashable, Sendable {
        package var app: String
        package var day: CivilDate
        /// The position in the log that the report names.
        package var position: Int64
        package var madeAt: Timestamp
    }
}

/// The kept reports. They are added and read, and never changed.
package enum ReportArchive {
    /// The newest report of that day at or before a position of the log; nil if none is kept.
    package static func newest(
        app: String, day: CivilDate, atOrBefore position: Int64, on connection: inout Connection
    ) throws(PostgresError) -> KeptReport? {
        let rows = try connection.query(
            """
            SELECT position, made_at, as_text, as_markdown, as_html, as_json, as_csv FROM report.kept
            WHERE app = \(app) AND day = \(day) AND position <= \(position) ORDER BY position DESC, id DESC LIMIT 1
            """)
        return try rows.first.map { row throws(PostgresError) in try KeptReport(row, app: app, day: day) }
    }

    /// The kept report that says the same at the same position, apart from what depends on the clock or on earlier
    /// reports.
    private static func same(
        as report: Report, content: String, on connection: inout Connection
    ) throws(PostgresError) -> KeptReport? {
        let rows = try connection.query(
            """
            SELECT position, made_at, as_text, as_markdown, as_html, as_json, as_csv FROM report.kept
            WHERE app = \(report.app) AND day = \(report.day) AND position = \(report.position)
                AND content = md5(\(content)) AND is_final = \(report.isFinal)
            """)
        return try rows.first.map { row throws(PostgresError) in
            try KeptReport(row, app: report.app, day: report.day)
        }
    }

    /// The kept reports of an app, of one day or of all: the latest day first, and the newest report of a day first.
    package static func list(
        app: String, day: CivilDate? = nil, on connection: inout Connection
    ) throws(PostgresError) -> [KeptReport.Place] {
        try connection.query(
            """
            SELECT day, position, made_at FROM report.kept WHERE app = \(app) AND (\(day) IS NULL OR day = \(day))
            ORDER BY day DESC, position DESC, id DESC
            """
        ).map { row throws(PostgresError) in
            KeptReport.Place(app: app, day: try row.get(0), position: try row.get(1), madeAt: try row.get(2))
        }
    }

    /// What became of a report that was to be kept.
    enum KeepResult {
        case added(ReportDocuments)
        /// The same report is kept already.
        case found(KeptReport)
    }

    /// Keeps a report with the figures of its own day and of the days that it restates. However often the same report
    /// is made, it is kept once. `alongside` is done in the same transaction.
    static func keep(
        _ report: Report, figures: DayFigures, on connection: inout Connection,
        alongside: (KeepResult, inout Connection) throws(PostgresError) -> Void
    ) throws(PostgresError) -> KeepResult {
        try connection.transaction { (connection: inout Connection) throws(PostgresError) in
            let outcome = try keepInTransaction(report, figures: figures, on: &connection)
            try alongside(outcome, &connection)
            return outcome
        }
    }

    private static func keepInTransaction(
        _ report: Report, figures: DayFigures, on connection: inout Connection
    ) throws(PostgresError) -> KeepResult {
        // Without this, two reports made at once would both find nothing. It also gives the first of a day the
        // least id.
        try connection.query("SELECT report.take_turn(\(report.app))")
        let content = report.timelessDocument
        if let kept = try same(as: report, content: content, on: &connection) { return .found(kept) }
        let documents = ReportDocuments(of: report)
        let id: Int64 = try connection.query(
            """
            INSERT INTO report.kept (app, day, position, made_at, is_final, received_engaged, closing_buttons, content,
                as_text, as_markdown, as_html, as_json, as_csv)
            VALUES (\(report.app), \(report.day), \(report.position), \(report.madeAt), \(report.isFinal),
                \(report.headline.counts.receivedEngaged), \(report.closingButtons),
                md5(\(content)), \(documents[.text]), \(documents[.markdown]), \(documents[.html]), \(documents[.json]),
                \(documents[.csv]))
            RETURNING id
            """)[0].get(0)
        let told = [(report.day, figures)] + report.restated.map { ($0.day, $0.now) }
        try connection.query(
            """
            INSERT INTO report.told (report, day, delivered, received, responded, received_responded, dismissed,
                stories, stories_completed, woken)
            SELECT \(id), * FROM unnest(\(told.map(\.0)), \(told.map(\.1.delivered)), \(told.map(\.1.received)),
                \(told.map(\.1.responded)), \(told.map(\.1.receivedResponded)), \(told.map(\.1.dismissed)),
                \(told.map(\.1.stories)), \(told.map(\.1.storiesCompleted)), \(told.map(\.1.woken)))
            """)
        return .added(documents)
    }
}

extension KeptReport {
    /// From the columns that both queries above read.
    fileprivate init(_ row: Rows.Row, app: String, day: CivilDate) throws(PostgresError) {
        self.init(
            place: Place(app: app, day: day, position: try row.get(0), madeAt: try row.get(1)),
            documents: ReportDocuments(texts: [
                .text: try row.get(2), .markdown: try row.get(3), .html: try row.get(4), .json: try row.get(5),
                .csv: try row.get(6),
            ]))
    }
}
