package import Telemetry
package import Values

/// A `goal.reached`, and what it counts for by each rule of the contract's section 12.
///
/// Decided: whether a receipt is silent, or shown to nobody, is what that receipt says, not the whole delivery. Of an
/// install, the last 100 goals of each day (UTC) count; of a delivery, the last 1,000 by each rule. A goal that names
/// its notification counts for that by both rules, and if there is no such delivery, for none.
package struct AttributedGoal: Sendable {
    package let app: Label
    package let event: Event
    package let isCounted: Bool
    /// Nil if nothing came before it.
    package let response: Latest?
    package let receipt: Latest?

    package struct Latest: Sendable {
        package let notificationKey: Label
        /// Nil if the goal names its notification.
        package let at: Timestamp?
    }

    package var explicit: Label? { event.notificationKey.map { Label($0) } }

    var goal: Goal? { if case .goalReached(let goal) = event.interaction { goal } else { nil } }

    /// Of all installs.
    static func all(in days: [InstallDay]) -> [AttributedGoal] {
        let installs = Dictionary(grouping: days) { [$0.app, Label($0.install.description)] }
        return installs.values.flatMap { days in
            let events = days.flatMap(\.events).sorted(by: EventOrder.precedes)
            let goals = events.filter { $0.type == .goalReached }
            let byDay = Dictionary(grouping: goals) {
                (Double($0.occurredAt.microseconds) / 86_400_000_000).rounded(.down)
            }
            let counted = Set(
                byDay.values.flatMap { $0.suffix(100) }.map { [$0.id.description, $0.deviceAt.description] })
            return goals.map { goal in
                let isCounted = counted.contains([goal.id.description, goal.deviceAt.description])
                return AttributedGoal(
                    app: days[0].app, event: goal, isCounted: isCounted,
                    response: isCounted ? latest(before: goal, among: events.filter { $0.response != nil }) : nil,
                    receipt: isCounted ? latest(before: goal, among: events.filter(\.isShown)) : nil)
            }
        }
    }

    private static func latest(before goal: Event, among events: [Event]) -> Latest? {
        if let named = goal.notificationKey { return Latest(notificationKey: Label(named), at: nil) }
        let event = events.last { event in
            EventOrder.precedes(event, goal) && goal.occurredAt - event.occurredAt <= 7 * 86_400_000_000
        }
        return event.flatMap { event in
            event.notificationKey.map { Latest(notificationKey: Label($0), at: event.occurredAt) }
        }
    }
}

extension Event {
    /// A receipt that showed something to somebody.
    fileprivate var isShown: Bool {
        guard let receipt else { return false }
        switch receipt.via {
        case .background: return notification.alert == true
        case .foreground: return !receipt.isShownToNobody
        default: return true
        }
    }
}
