internal import Postgres
internal import ServiceRuntime
internal import Values

/// What all sections of a report are read for, and what more than one of them reads.
struct ReportScope {
    let app: String
    let period: Period
    /// The app's. Its midnights bound the day.
    let timeZone: String
    let now: Timestamp
    /// The parts of the log that are read.
    let sample: LogSample
    /// By category: see `Button.read`.
    let buttons: [ExactName: BoundList<Button>]
    /// The most that lists name.
    let bound: ListBound

    /// A hash of the buttons that close or decline as they are registered now; nil if there is none.
    let closingButtons: String?

    init(
        _ app: ReportedApp, _ period: Period, now: Timestamp, mostDeliveries: Int64, bound: ListBound = ListBound(),
        on connection: inout Connection
    ) throws(PostgresError) {
        (self.app, self.period, timeZone, self.now, self.bound) = (app.slug, period, app.timeZone, now, bound)
        sample = try LogSample.choose(
            days: period.days, timeZone: app.timeZone, mostDeliveries: mostDeliveries, on: &connection)
        buttons = try Button.read(of: app.slug, most: bound.parts, on: &connection)
        let closing = buttons.flatMap { category, buttons in
            // A separator that names hardly contain: the hash only tells registrations apart.
            buttons.listed.filter(\.isClosing).map { ExactName("\(category.text)\u{1}\($0.id)") }
        }
        closingButtons =
            closing.isEmpty
            ? nil
            : try connection.query("SELECT md5(\(closing.sorted().map(\.text).joined(separator: "\u{2}")))")[0].get(0)
    }

    /// The day of the report, or the last one of the week: how settled it is, and what is asked of single days.
    var day: CivilDate { period.days.upperBound }
    var firstDay: CivilDate { period.days.lowerBound }

    /// The first of so many days that end with the report's.
    func first(of days: Int) -> CivilDate { day.advanced(by: 1 - days) }

    /// Whole hours from this moment to the making of the report; negative before it.
    func hours(since moment: Timestamp) -> Int {
        Int(saturating: (Double(now - moment) / 3_600_000_000).rounded(.down))
    }
}

extension ClosedRange<CivilDate> {
    /// The days in their order, each with the moment when it ends in a time zone.
    func ends(
        in timeZone: String, on connection: inout Connection
    ) throws(PostgresError) -> [(day: CivilDate, end: Timestamp)] {
        let count = Int32(upperBound.daysSince1970 - lowerBound.daysSince1970)
        let rows = try connection.query(
            """
            SELECT \(lowerBound) + n, (\(lowerBound) + n + 1)::timestamp AT TIME ZONE \(timeZone)
            FROM generate_series(0, \(count)) AS n ORDER BY n
            """)
        return try rows.map { row throws(PostgresError) in (try row.get(0), try row.get(1)) }
    }
}

/// A name as a key. Like the database, it compares and orders names byte by byte. `String` takes the two spellings of
/// "é" for the same text, which would make one category of two.
package struct ExactName: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactName, right: ExactName) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package static func < (left: ExactName, right: ExactName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    // By bytes, too: as strings, a thousand spellings of one text would have one hash, and a table of them would be
    // slow.
    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension Rows {
    /// What is made of the rows, grouped by the name in their first column and in the order of the rows.
    func byName<Value>(
        _ value: (Row) throws(PostgresError) -> Value
    ) throws(PostgresError) -> [ExactName: [Value]] {
        var values: [ExactName: [Value]] = [:]
        for row in self { values[ExactName(try row.get(0)), default: []].append(try value(row)) }
        return values
    }
}
