package import Postgres
package import Values

/// Makes the report of one day or week of one app, and keeps that of a day.
///
/// It reads the report, and which earlier days have changed since they were reported, in one snapshot. It does not wait
/// for the funnels: `Readiness` does.
package struct Reporter: Sendable {
    private let app: String
    private let period: Period
    private let now: Timestamp

    package init(app: String, period: Period, now: Timestamp) {
        (self.app, self.period, self.now) = (app, period, now)
    }

    /// A report and its documents.
    package struct Made: Sendable {
        /// What the documents say. If they were kept earlier, this says more recently how settled the day is and which
        /// earlier days have changed.
        package var report: Report
        package var documents: ReportDocuments
        package var keeping: Keeping

        /// The text of the documents for a terminal. Each line has the colours that the report gives it; a line that
        /// was kept in other words has none.
        package var colouredText: String {
            let document = TextDocument(Page(report))
            let lines = zip(document.text(inColour: false).lines, document.text(inColour: true).lines)
            let colours = Dictionary(lines.map { (ExactName(String($0)), $1) }) { first, _ in first }
            return documents.text.lines.map { colours[ExactName(String($0))] ?? $0 }.joined(separator: "\n")
        }
    }

    /// Whether the report can be printed again later.
    package enum Keeping: Sendable {
        case kept
        /// A week is made of days, whose reports are kept.
        case notKept
        /// The same report was kept earlier. The documents are the earlier ones, however much later it is now.
        case before
        /// The report can be read but was not kept, so no later report will say what has changed since.
        case failed(PostgresError)
    }

    /// Makes it on a connection that may read `analytics` and add to `report`. What is done `alongside` is committed
    /// with the report, or neither is.
    package func make(
        on connection: inout Connection, alongside: (Made, inout Connection) throws(PostgresError) -> Void = { _, _ in }
    ) throws(ReportError) -> Made {
        let (report, figures) = try connection.inSnapshot { (connection: inout Connection) throws(ReportError) in
            var report = try ReportReader(app: app, period: period, now: now).read(inSnapshotOf: &connection)
            guard case .day(let day) = period else { return (report, DayFigures()) }
            let (figures, restated) = try Restatements(app: app, day: day).read(on: &connection)
            report.restated = restated
            return (report, figures)
        }
        var made = Made(report: report, documents: ReportDocuments(texts: [:]), keeping: .notKept)
        do throws(PostgresError) {
            guard case .day = period else {
                made.documents = ReportDocuments(of: report)
                try connection.transaction { (connection: inout Connection) throws(PostgresError) in
                    try alongside(made, &connection)
                }
                return made
            }
            let outcome = try ReportArchive.keep(report, figures: figures, on: &connection) {
                (outcome: ReportArchive.KeepResult, connection: inout Connection) throws(PostgresError) in
                try alongside(made.becoming(outcome), &connection)
            }
            return made.becoming(outcome)
        } catch {
            return Made(report: report, documents: ReportDocuments(of: report), keeping: .failed(error))
        }
    }
}

extension Reporter.Made {
    /// The same, once it is known whether it was kept earlier.
    fileprivate func becoming(_ outcome: ReportArchive.KeepResult) -> Reporter.Made {
        var made = self
        switch outcome {
        case .added(let documents): (made.documents, made.keeping) = (documents, .kept)
        case .found(let kept):
            made.report.madeAt = kept.place.madeAt
            (made.documents, made.keeping) = (kept.documents, .before)
        }
        return made
    }
}

extension Report {
    /// Whether the day was over when the report was made.
    package var isFinal: Bool { settling.hoursSinceEnd >= 0 }

    /// What depends on the log, the registered buttons and the reported sends alone. Two reports with the same text are
    /// one report, made at different hours or after different ones. If buttons get their titles in between, there are
    /// two.
    var timelessDocument: String {
        var report = self
        report.madeAt = Timestamp(microseconds: 0)
        report.settling = Settling(hoursSinceEnd: 0, share: nil, events: 0)
        report.restated = []
        // Which days it is compared with, and the verdict, depend on its age and on earlier reports.
        report.headline = Headline(counts: headline.counts)
        report.trend = []
        report.movers = []
        report.timeOfDay = nil
        report.comparisons = 0
        // A page that has been proved since says so, but not each time that it is proved again.
        report.verifications = timelessVerification.map { [$0] } ?? []
        for section in sections { section.eachVerdict(&report) { $0 = .unsettled } }
        return JSONDocument(report).text
    }
}

extension Report {
    /// What the last verification says of these numbers, whenever it was; nil if they have changed since.
    private var timelessVerification: Verification? {
        guard let last = verifications.first, !last.isProved || last.isUnchanged else { return nil }
        return Verification(
            since: isProved ? nil : period.days.lowerBound, at: Timestamp(microseconds: 0), isProved: last.isProved,
            differing: min(last.differing, 1), position: 0, isUnchanged: last.isUnchanged)
    }
}

extension String {
    /// If the text ends with a newline, the last line is empty.
    fileprivate var lines: [Substring] { split(separator: "\n", omittingEmptySubsequences: false) }
}
