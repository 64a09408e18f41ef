package import Postgres
package import Telemetry

/// Makes the report of one day of one app, and keeps it.
///
/// What it says, and which earlier days have changed since they were told, is read in one snapshot. It does not wait for
/// the funnels: that is `Readiness`.
package struct Reporter: Sendable {
    private let app: String
    private let day: CivilDate
    private let now: Timestamp

    package init(app: String, day: CivilDate, now: Timestamp) {
        (self.app, self.day, self.now) = (app, day, now)
    }

    /// A report and how it is printed.
    package struct Made: Sendable {
        /// What the documents say; where they were kept before, how settled the day is and which earlier ones have
        /// changed can be said anew here.
        package var report: Report
        package var documents: ReportDocuments
        package var keeping: Keeping

        /// The text for a terminal: that of the documents, in the colours that each line of it has in the report. A line
        /// that was kept in other words has none.
        package var colouredText: String {
            let document = TextDocument(Page(report))
            let lines = zip(document.text(inColour: false).lines, document.text(inColour: true).lines)
            let colours = Dictionary(lines.map { (ExactName(String($0)), $1) }) { first, _ in first }
            return documents.text.lines.map { colours[ExactName(String($0))] ?? $0 }.joined(separator: "\n")
        }
    }

    /// Whether it can be printed again later.
    package enum Keeping: Sendable {
        case kept
        /// As before: the same was kept earlier, and is what the documents are, whatever the hour says now.
        case before
        /// It is good to read but was not kept, so nobody will say later what has changed since.
        case failed(PostgresError)
    }

    /// Makes it on a connection that may read `analytics` and add to `report`.
    package func make(on connection: inout Connection) throws(ReportError) -> Made {
        var (report, figures) = try connection.inSnapshot { (connection: inout Connection) throws(ReportError) in
            var report = try ReportReader(app: app, day: day, now: now).read(inSnapshotOf: &connection)
            let (figures, restated) = try Restatements(app: app, day: day).read(on: &connection)
            report.restated = restated
            return (report, figures)
        }
        do {
            switch try ReportArchive.keep(report, figures: figures, on: &connection) {
            case .added(let documents): return Made(report: report, documents: documents, keeping: .kept)
            case .found(let kept):
                report.madeAt = kept.place.madeAt
                return Made(report: report, documents: kept.documents, keeping: .before)
            }
        } catch {
            return Made(report: report, documents: ReportDocuments(of: report), keeping: .failed(error))
        }
    }
}

extension String {
    /// With an empty one after the last newline.
    fileprivate var lines: [Substring] { split(separator: "\n", omittingEmptySubsequences: false) }
}
