internal import Postgres

/// What an install's newest events tell of why nothing arrives, a line for each question that somebody would ask.
enum InstallDiagnosis {
    static func checks(_ row: Grid.Row) -> [Sight.Check] {
        guard row.count("events") > 0 else {
            return [
                Sight.Check(
                    state: .waiting, title: "It has sent something",
                    words:
                        "Nothing in these days. The app was not used, or is gone; or events wait on the device; or the "
                        + "install was erased; or the id is of another app. Choose more days."
                )
            ]
        }
        return [seen(row), allowed(row), noticed(row), receipts(row)]
    }

    private static func seen(_ row: Grid.Row) -> Sight.Check {
        let version = row.text("app_version").map { ", version \($0)" } ?? ""
        return Sight.Check(
            state: .done, title: "It has sent something",
            words: "The last time at \(moment(row, "last_seen"))\(version).")
    }

    private static func allowed(_ row: Grid.Row) -> Sight.Check {
        let title = "Notifications are allowed"
        switch row.text("authorization") {
        case nil:
            return Sight.Check(state: .waiting, title: title, words: "No event of these days says so or otherwise.")
        case "denied":
            let since = row["turned_off_at"] == nil ? "" : " since \(moment(row, "turned_off_at"))"
            return Sight.Check(state: .wrong, title: title, words: "They are off\(since): nothing is shown.")
        case "not_determined":
            return Sight.Check(state: .wrong, title: title, words: "The user was never asked: nothing is shown.")
        case let state?:
            return Sight.Check(state: .done, title: title, words: "\(state), by its last event that says so.")
        }
    }

    private static func noticed(_ row: Grid.Row) -> Sight.Check {
        let title = "They are shown where they are noticed"
        if row.text("setting_scheduled_summary") == "on" {
            return Sight.Check(state: .wrong, title: title, words: "They wait for the scheduled summary.")
        }
        switch (row.text("setting_alerts"), row.text("setting_lock_screen")) {
        case (nil, nil): return Sight.Check(state: .waiting, title: title, words: "No event of these days says so.")
        case ("off", "off"):
            return Sight.Check(
                state: .wrong, title: title,
                words: "Banners and the lock screen are off: muted, in the notification centre at most.")
        default: return Sight.Check(state: .done, title: title, words: "Banners or the lock screen are on.")
        }
    }

    private static func receipts(_ row: Grid.Row) -> Sight.Check {
        let title = "Receipts come"
        guard row["last_receipt"] != nil else {
            return Sight.Check(
                state: .wrong, title: title,
                words: "None in these days. Is the service extension in the app, and with the same App Group?")
        }
        let (now, then) = (row.text("app_version"), row.text("receipt_version"))
        if let now, let then, now != then {
            return Sight.Check(
                state: .wrong, title: title,
                words:
                    "The last one at \(moment(row, "last_receipt")), from version \(then). None since version \(now): "
                    + "is its service extension as it was?"
            )
        }
        return Sight.Check(state: .done, title: title, words: "The last one at \(moment(row, "last_receipt")).")
    }

    private static func moment(_ row: Grid.Row, _ column: String) -> String {
        Columns.text(column, row[column]) + " UTC"
    }
}
