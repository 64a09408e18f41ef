internal import Telemetry
package import Values

package import struct Foundation.TimeZone

/// One install on one day on which it sent an event, with the contract's facts about it.
///
/// Decided: an install that turns notifications off several times a day counts with the first time. What it had last
/// received is the last receipt before that which is not of a silent push, with the words of that receipt; of the
/// receipts in a quarter of an hour the last 8 in event order count, so that nobody can make the fold keep more.
package struct InstallDay: Sendable {
    package let app: Label
    package let install: UUID
    package let day: CivilDate
    /// In event order.
    let events: [Event]
    /// What came last before notifications were turned off; nil if they were not.
    let muted: Muted?

    struct Muted {
        var category: Label = .empty
        var campaign: Label = .empty
        var receivedNothing = true
    }

    package static func all(in events: [StoredEvent], timeZone: (String) -> TimeZone) -> [InstallDay] {
        let installs = Dictionary(grouping: StoredEvent.distinct(events)) { stored in
            [Label(stored.app), Label(stored.event.source.installID.description)]
        }
        return installs.values.flatMap { stored -> [InstallDay] in
            let (app, zone) = (Label(stored[0].app), timeZone(stored[0].app))
            let events = stored.map(\.event).sorted(by: EventOrder.precedes)
            return Dictionary(grouping: events) { $0.occurredAt.day(in: zone) }.map { day, ofDay in
                let off = ofDay.first { $0.isTurnedOff }
                return InstallDay(
                    app: app, install: ofDay[0].source.installID, day: day, events: ofDay,
                    muted: off.map { muted(by: $0, among: events) })
            }
        }
    }

    private static func muted(by off: Event, among events: [Event]) -> Muted {
        let receipts = Dictionary(grouping: events.filter { $0.isVisibleReceipt }) { event in
            (Double(event.occurredAt.microseconds) / 900_000_000).rounded(.down)
        }
        let last = receipts.values.flatMap { $0.suffix(8) }.filter { receipt in
            EventOrder.precedes(receipt, off) && off.occurredAt - receipt.occurredAt <= 86_400_000_000
        }
        .max(by: EventOrder.precedes)
        guard let last else { return Muted() }
        return Muted(
            category: Label(last.notification.category ?? ""), campaign: Label(last.notification.campaign ?? ""),
            receivedNothing: false)
    }

    var authorization: Authorization? { events.last { $0.authorization != nil }?.authorization }

    /// How noticeable notifications are, as its last event that says so says; nil for none.
    var reach: Label? { events.compactMap(\.reach).last.map { Label($0) } }

    var isTurnedOn: Bool {
        events.contains { event in
            if case .permissionChanged(_, .denied) = event.interaction { event.authorization != .denied } else { false }
        }
    }
}

extension Event {
    /// What it says the user allows. A change says it itself, and else its source does.
    var authorization: Authorization? {
        if case .permissionChanged(let new?, _) = interaction { new } else { source.authorization }
    }

    /// By the settings of the same event.
    var reach: String? {
        let settings = source.settings
        switch authorization {
        case nil: return nil
        case .denied, .notDetermined: return "none"
        case .provisional: return "quiet"
        case .authorized, .ephemeral:
            let isVisible = settings.alerts != .off || settings.lockScreen != .off
            return isVisible && settings.scheduledSummary != .on ? "prominent" : "quiet"
        }
    }

    fileprivate var isTurnedOff: Bool { type == .permissionChanged && authorization == .denied }

    fileprivate var isVisibleReceipt: Bool {
        receipt.map { $0.via != .background || notification.alert == true } ?? false
    }
}
