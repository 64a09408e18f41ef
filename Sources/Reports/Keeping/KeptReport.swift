package import Telemetry

/// A report as it was printed once.
package struct KeptReport: Sendable {
    package var place: Place
    package var documents: ReportDocuments

    package init(place: Place, documents: ReportDocuments) { (self.place, self.documents) = (place, documents) }

    /// Which of the reports that are kept.
    package struct Place: Hashable, Sendable {
        package var app: String
        package var day: CivilDate
        /// Of the log, as the report says it.
        package var position: Int64
        package var madeAt: Timestamp

        package init(app: String, day: CivilDate, position: Int64, madeAt: Timestamp) {
            (self.app, self.day, self.position, self.madeAt) = (app, day, position, madeAt)
        }
    }
}
