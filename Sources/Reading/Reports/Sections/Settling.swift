internal import Telemetry
internal import Values

/// How much of the day is likely still to come. The receipt of a push that nobody touched is sent at the app's next
/// launch.
struct Settling: Hashable, Sendable {
    /// Whole hours from the end of the day to the making of the report; negative before the day is over.
    var hoursSinceEnd: Int
    /// The share of a day's events that has usually arrived by then, estimated from the 28 days before; nil if those
    /// have too few events, and before the day is over.
    var share: Double?
    /// The number of events it is estimated from; if the log is too long to be read, of a fair sample.
    var events: Int64
    /// Hours after the end of a day until 95 % and 99 % of its events have arrived; nil if not within 28 days.
    var hoursTo95: Int?
    var hoursTo99: Int?
    /// Hours after the end of a day until 99 % of its receipts have arrived.
    var hoursToReceipts: Int?
    /// The share of a day's receipts that has usually arrived by then. Taps are reported at once and receipts come
    /// late, so the response rate is too high until they have arrived.
    var receiptShare: Double?

    /// Whether what is still to come makes no difference worth mentioning.
    var isSettled: Bool {
        guard let share else { return hoursSinceEnd >= Settling.hoursUntold }
        return min(share, receiptShare ?? share) >= 0.99
    }

    /// Hours after the end of a day until it has settled.
    var hoursToSettle: Int {
        guard share != nil else { return Settling.hoursUntold }
        return max(hoursTo99 ?? ArrivalCurve.horizon, hoursToReceipts ?? 0)
    }

    /// The last day up to the report's that has settled.
    func lastSettledDay(upTo day: CivilDate) -> CivilDate {
        day.advanced(by: -max(0, (hoursToSettle - hoursSinceEnd + 23) / 24))
    }

    /// If nothing is known of how events arrive, a week is assumed to be enough.
    static let hoursUntold = 168
}

extension Settling {
    /// From how the events of the four weeks before the day arrived.
    init(_ scope: ReportScope, _ arrivals: Arrivals) {
        let (events, receipts, end) = arrivals.curves(before: scope.day, scope)
        let hours = scope.hours(since: end)
        self.init(
            hoursSinceEnd: hours, share: events.share(after: hours), events: events.events,
            hoursTo95: events.hours(to: 0.95), hoursTo99: events.hours(to: 0.99),
            hoursToReceipts: receipts.hours(to: 0.99), receiptShare: receipts.share(after: hours))
    }
}

/// Whether the numbers of the day will still change. `ReportReader` reads it first, since the headline depends on it.
enum SettlingSection: ReportSection {
    static func words(_ report: Report) -> Page.Section? {
        Page.Section("How settled", blocks(report.settling, report.period))
    }

    private static func blocks(_ settling: Settling, _ period: Period) -> [Block] {
        guard settling.hoursSinceEnd >= 0 else {
            let left = Wording.hours(-settling.hoursSinceEnd)
            return [
                .sentence(
                    "The \(period.word) is not over: it has up to \(left) left. "
                        + "Its counts will rise, and its rates will change.",
                    .alarm)
            ]
        }
        let ended =
            settling.hoursSinceEnd == 0
            ? "The \(period.word) ended less than an hour ago."
            : "The \(period.word) ended \(Wording.hours(settling.hoursSinceEnd)) ago."
        guard let share = settling.share else {
            return [
                .sentence(
                    "\(ended) The days before had too few events (\(Wording.count(settling.events))) to estimate how "
                        + "much is still to come.", .plain)
            ]
        }
        var words = "\(ended) By this time, about \(Wording.percent(share)) of a day's events "
        if let receipts = settling.receiptShare { words += "and \(Wording.percent(receipts)) of its receipts " }
        words +=
            settling.isSettled
            ? "have usually arrived: the \(period.word) has settled."
            : "have usually arrived. Late events will still change "
                + "\(period.word == "day" ? "the day" : "the last days"): counts "
                + "rise, and the response rate usually falls."
        if !settling.isSettled, let most = settling.hoursTo95 {
            let nearlyAll = settling.hoursTo99.map { ", and 99 % after \(Wording.hours($0))" } ?? ""
            words += " Usually 95 % have arrived after \(Wording.hours(most))\(nearlyAll)."
        }
        return [
            .sentence(words, min(share, settling.receiptShare ?? share) < 0.9 ? .alarm : .plain),
            .sentence(
                "If nobody touches a push, its receipt is sent at the app's next launch. Estimated from the arrival of "
                    + "\(Wording.count(settling.events)) events in the 28 days before.", .note),
        ]
    }

    static func facts(_ report: Report) -> [EntryList] {
        let settling = report.settling
        return .single(
            "settling",
            Entry(facts: [
                .count("hours_since_end", settling.hoursSinceEnd), .number("share", settling.share),
                .number("receipt_share", settling.receiptShare), .count("events", settling.events),
                .count("hours_to_95", settling.hoursTo95), .count("hours_to_99", settling.hoursTo99),
            ]))
    }
}
