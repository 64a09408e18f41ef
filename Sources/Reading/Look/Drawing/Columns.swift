internal import Postgres
internal import Reports
internal import Values

/// How the columns of our views are shown: their titles, and figures as people read them. Two views give a column the
/// same name only if it means the same.
enum Columns {
    private static let titles = [
        "app": "App", "day": "Day", "week": "Week from", "time_zone": "Time zone", "received_responded": "Responded",
        "received_engaged": "Engaged", "responded": "Responded, all", "engaged": "Engaged, all",
        "receipt_coverage": "Receipt coverage", "response_rate": "Response",
        "engagement_rate": "Engagement", "action_tapped": "Tapped", "app_version": "Version", "version": "Version",
        "action_id": "Button", "tapped_deliveries": "Tapped on", "tap_rate": "Tap rate",
        "rate_bound": "True rate below",
        "median_seconds": "Median time", "p90_seconds": "9 of 10 within", "mean_dwell_seconds": "Mean dwell",
        "page_index": "Page", "page_title": "Title", "exit_clicked": "Clicked", "exit_finished": "Finished",
        "exit_fallback": "Fallback", "exit_abandoned": "Abandoned", "exited": "Left here",
        "completion_rate": "Completion",
        "click_rate": "Click rate",
        "fcm_delivered": "FCM delivered", "delivery_rate": "Delivered / sent", "not_determined": "Not asked",
        "received_nothing": "No push before", "rejected_by_reason": "Reasons", "client_dropped": "Lost on phones",
        "install_id": "Install", "notification_key": "Notification", "first_response": "First response",
        "received_locally": "Received at", "made_locally": "Made at", "is_final": "Told as final",
        "told": "As told", "delivered_before": "Delivered before", "engagement_before": "Engagement before",
        "received_before": "Received before", "lag_seconds": "Behind", "stopped_because": "Stopped because",
        "fallback_rate": "Fallback rate", "hour": "Hour", "installs": "Installs", "turned_off": "Turned off",
        "turned_on": "Turned on", "within_minutes": "Within", "converted": "Followed", "share": "Of all in 7 days",
        "converted_1h": "Within 1\u{a0}h", "rate_1h": "Rate, 1\u{a0}h", "converted_24h": "Within 24\u{a0}h",
        "rate_24h": "Rate, 24\u{a0}h",
        "converted_7d": "Within 7\u{a0}days", "rate_7d": "Rate, 7\u{a0}days", "goals_7d": "Goals, 7\u{a0}days",
        "value_24h": "Value, 24\u{a0}h", "value_7d": "Value, 7\u{a0}days", "after_none": "After no notification",
        "pressure": "In 24 hours", "compared_responded": "Answered, of those compared",
        "expected_responded": "As they answer others", "turned_off_rate": "Share that turned off",
        "prominent": "Noticeable", "prominent_rate": "Share noticeable", "none": "Shows none",
    ]

    static func title(_ column: String) -> String {
        if let title = titles[column] { return title }
        if let own = other(column) { return "\(title(own)), the other" }
        let words = column.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The column that one of a version compared with is named after.
    static func other(_ column: String) -> String? {
        column.hasSuffix("_against") ? String(column.dropLast(8)) : nil
    }

    static func isShare(_ column: String) -> Bool {
        if let own = other(column) { return isShare(own) }
        return column.hasSuffix("_rate") || column == "rate" || column.hasPrefix("rate_")
            || column == "receipt_coverage" || column == "share"
            || column == "engagement_before"
    }

    static func kind(_ column: String, _ value: AnyPostgresValue?) -> Table.Column.Kind {
        switch value {
        // Times have their digits below one another, and are not broken.
        case .integer, .decimal, .double, .moment: .number
        case nil where isShare(column) || column.hasSuffix("_seconds"): .number
        default: .name
        }
    }

    private static let none = "(none)"

    /// A name from outside. One of blanks alone is put in quotes, so that there is something to see and to follow; so
    /// is one that looks like none.
    static func shown(_ name: String) -> String {
        guard !name.isEmpty else { return none }
        return name == none || name.unicodeScalars.allSatisfy(\.properties.isWhitespace) ? "“\(name)”" : name
    }

    static func text(_ column: String, _ value: AnyPostgresValue?) -> String {
        switch value {
        case nil: return "–"
        case .text(let text)? where column == "rule": return GoalPage.Rule(rawValue: text)?.title ?? shown(text)
        case .text(let text)?: return shown(text)
        case .flag(let flag)?: return flag ? "yes" : "no"
        case .day(let day)?: return Wording.brief(day)
        case .moment(let moment)?: return String(moment.description.prefix(19).replacing("T", with: " "))
        // Its beginning tells it from others; its link and the CSV file have all of it.
        case .uuid(let id)?: return "\(id)".prefix(8) + "…"
        case .integer?, .decimal?, .double?:
            guard let value, let number = value.number else { return "–" }
            if isShare(column) { return Wording.percent(number) }
            if column.hasSuffix("_seconds") { return Wording.duration(seconds: number) }
            if column == "within_minutes" { return minutes(value.count ?? 0) }
            if column == "value" || column.hasPrefix("value_") { return number == 0 ? "–" : Money.text(number) }
            // The last stands for all above it.
            if column == "pressure", value.count == 10 { return "10 or more" }
            // A page is counted from 0 in the data, and from 1 by people.
            if column == "page_index" { return "\((value.count ?? 0) + 1)" }
            return value.count.map { Wording.count($0) } ?? value.plain
        }
    }
}

extension Columns {
    /// A limit of `goal_times`: `15 min`, `12 h`, `3 days`.
    static func minutes(_ minutes: Int64) -> String {
        if minutes < 60 { return "\(minutes) min" }
        return minutes < 2 * 24 * 60 ? "\(minutes / 60) h" : "\(minutes / (24 * 60)) days"
    }
}

extension Answer {
    /// As people read it.
    var table: Table {
        let shown = grid.columns.filter { !listing.hidden.contains($0) && $0 != "by_day" }
        let sample = { (column: String) in grid.rows.lazy.compactMap { $0[column] }.first }
        var columns = shown.map { column in
            var drawn = Table.Column(
                Columns.title(column), listing.bars.contains(column) ? .bar : Columns.kind(column, sample(column)))
            drawn.isProse = listing.prose.contains(column)
            return drawn
        }
        if let first = grid.rows.first {
            columns += listing.added.map { Table.Column($0(first).title, .name) }
        }
        let drawn = listing.spark == nil ? nil : sparkDays
        let rows = grid.rows.map { row in
            shown.map { column in
                var cell = Table.Cell(Columns.text(column, row[column]))
                if listing.bars.contains(column) { cell.share = row.number(column) }
                cell.isBeyondWhole = Columns.isShare(column) && row.number(column) ?? 0 > 1
                if listing.spark == column { cell.spark = row.spark(over: drawn) }
                // Nothing is behind a zero.
                if row[column]?.number != 0 { cell.link = listing.link(row, column)?.address }
                return cell
            } + listing.added.map { $0(row).cell }
        }
        return Table(listing.caption, columns: columns, rows: rows)
    }

    /// The days of all lines, so that they can be compared.
    private var sparkDays: ClosedRange<Int>? {
        let days = grid.rows.flatMap(\.byDay).map(\.day)
        guard let first = days.min(), let last = days.max(), first < last, last - first <= DayRange.most else {
            return nil
        }
        return first...last
    }

    /// For other programs: the columns as the views name them, and the figures as the database has them.
    var csv: String {
        var text = grid.columns.map { CSVDocument.cell($0) }.joined(separator: ",") + "\r\n"
        for row in grid.rows {
            text +=
                row.values.map { value in
                    switch value {
                    case nil: ""
                    case .text(let text)?: CSVDocument.cell(text)
                    case let value?: value.plain
                    }
                }.joined(separator: ",") + "\r\n"
        }
        return text
    }
}

extension Grid.Row {
    /// `by_day`, a list of `2026-11-20=343`.
    fileprivate var byDay: [(day: Int, value: Double)] {
        (text("by_day") ?? "").split(separator: " ").compactMap { pair -> (Int, Double)? in
            let parts = pair.split(separator: "=")
            guard parts.count == 2, let day = CivilDate(text: String(parts[0])), let value = Double(parts[1]) else {
                return nil
            }
            return (day.daysSince1970, value)
        }
    }

    /// A value for each of these days.
    fileprivate func spark(over days: ClosedRange<Int>?) -> [Double?] {
        guard let days else { return [] }
        var values = [Double?](repeating: nil, count: days.count)
        for (day, value) in byDay where days.contains(day) { values[day - days.lowerBound] = value }
        return values
    }
}
