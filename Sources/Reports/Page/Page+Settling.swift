extension Page {
    static func settling(_ report: Report) -> Section? {
        let settling = report.settling
        if settling.hoursSinceEnd < 0 {
            let left = Wording.hours(-settling.hoursSinceEnd)
            return Section(
                "How settled",
                [
                    .sentence(
                        "The day is not over: it has up to \(left) to go. Its counts will rise, and its rates change.",
                        .alarm)
                ])
        }
        let ended =
            settling.hoursSinceEnd == 0
            ? "The day ended less than an hour ago." : "The day ended \(Wording.hours(settling.hoursSinceEnd)) ago."
        guard let share = settling.share else {
            return Section(
                "How settled",
                [
                    .sentence(
                        "\(ended) The days before brought too few events (\(Wording.count(settling.events))) to tell "
                            + "how much of it is still to come.", .plain)
                ])
        }
        let isSettled = settling.isSettled
        var words = "\(ended) By then, about \(Wording.percent(share)) of a day's events are usually in"
        if let receipts = settling.receiptShare { words += ", and \(Wording.percent(receipts)) of its receipts" }
        words +=
            isSettled
            ? ": it is as good as settled."
            : ". Late reports will still change it: counts rise, the response rate mostly falls."
        let times = [(settling.hoursTo95, 95), (settling.hoursTo99, 99)].compactMap { hours, percent in
            hours.map { "\(percent) % after \(Wording.hours($0))" }
        }
        if !isSettled, !times.isEmpty { words += " Usually \(times.joined(separator: ", "))." }
        return Section(
            "How settled",
            [
                .sentence(words, min(share, settling.receiptShare ?? share) < 0.9 ? .alarm : .plain),
                .sentence(
                    "Who did not respond reports at the app's next launch. Told from how "
                        + "\(Wording.count(settling.events)) events of up to 28 days before came in.", .note),
            ])
    }

    /// What earlier reports told and is not so any more.
    static func restated(_ report: Report) -> Section? {
        guard !report.restated.isEmpty else { return nil }
        let changes = report.restated.flatMap { restatement in
            restatement.changes.map { (Wording.brief(restatement.day), $0) }
        }
        return Section(
            "Earlier days that changed",
            [
                .table(
                    Table(
                        "Since they were reported: by late events mostly, or an erasure, or another time zone",
                        columns: [.name("Day"), .name("What"), .number("Told"), .number("Now"), .number("Change")],
                        of: changes, most: 2 * Table.mostRows
                    ) { day, change in
                        [day, change.what, change.told, change.now, change.difference].map { Table.Cell($0) }
                    })
            ])
    }
}

extension Restatement {
    /// What differs, in words.
    fileprivate var changes: [(what: String, told: String, now: String, difference: String)] {
        let counts: [(String, Int64, Int64)] = [
            ("deliveries", told.delivered, now.delivered), ("received", told.received, now.received),
            ("responded", told.responded, now.responded), ("dismissed", told.dismissed, now.dismissed),
            ("stories", told.stories, now.stories), ("stories completed", told.storiesCompleted, now.storiesCompleted),
            ("silent pushes", told.woken, now.woken),
        ]
        var changes = counts.filter { $0.1 != $0.2 }.map { what, told, now in
            let sign = now > told ? "+" : ""
            return (what, Wording.count(told), Wording.count(now), sign + Wording.count(now - told))
        }
        if Wording.percent(told.responseRate) != Wording.percent(now.responseRate) {
            let difference: String =
                if let before = told.responseRate.value, let after = now.responseRate.value {
                    Wording.points(from: before, to: after)
                } else { "–" }
            changes.append(
                ("response rate", Wording.percent(told.responseRate), Wording.percent(now.responseRate), difference))
        }
        return changes
    }
}
