import Telemetry
import Values

@testable import Simulation

/// The installs of an experiment, simulated from two weeks before its start to its end. What the pushes change is
/// planted, so that a report of the experiment can be compared with it. The result depends only on the seed and on what
/// is given.
struct Trial: Sendable {
    let app: AppProfile
    let installs: Int
    let start: Timestamp
    let days: Int
    /// The campaign that the control arm is left without, and the goal.
    let campaign: String
    let goal: String
    /// The share of people who reach the goal without the pushes.
    var base = 0.2
    /// How much more of them do with the pushes: 0.5 for half as many again, 0 for no effect.
    var lift = 0.0
    /// The share of treated installs of which nothing arrives.
    var lost = 0.0
    /// The share of control installs that get the pushes all the same.
    var leaked = 0.0

    init(_ app: AppProfile, installs: Int, from start: Timestamp, days: Int, campaign: String, goal: String) {
        (self.app, self.installs, self.start, self.days) = (app, installs, start, days)
        (self.campaign, self.goal) = (campaign, goal)
    }

    /// What their phones send, in order. `isControl` tells the arm of an install.
    func envelopes(seed: UInt64, isControl: (UUID) -> Bool) -> [Envelope] {
        var dice = Dice(seed: seed)
        var envelopes: [Envelope] = []
        for _ in 0..<installs {
            let phone = Phone(of: app, joinedAt: start.after(seconds: -dice.between(30, 300) * 86_400), &dice)
            let isInControl = isControl(phone.source.installID)
            let isPushed = isInControl ? dice.chance(leaked) : true
            let isLost = dice.chance(isInControl ? 0 : lost)
            let isReached = dice.chance(base * (isInControl ? 1 : 1 + lift))
            var written: [(at: Timestamp, Interaction, Notification)] = [
                (
                    start.after(seconds: -dice.between(0.1, 14) * 86_400), .opened(launch: .cold),
                    notification("before", nil)
                )
            ]
            for day in 0..<days where isPushed && dice.chance(0.3) {
                written.append(
                    (
                        start.after(seconds: (Double(day) + dice.unit()) * 86_400),
                        .received(Receipt(via: .serviceExtension)), notification("push-\(day)", campaign)
                    ))
            }
            if isReached {
                let value = Int64(dice.number(in: 5...50)) * Millionths.one
                written.append(
                    (
                        start.after(seconds: dice.unit() * Double(days) * 86_400),
                        .goalReached(Goal(goal, value: value, currency: "EUR")), Notification()
                    ))
            }
            guard !isLost else { continue }
            for (at, interaction, notification) in written {
                let event = EventText(
                    id: UUID(time: at + phone.clock.error, &dice), at: at + phone.clock.error, seq: nil,
                    notification: notification, interaction: interaction,
                    writesMilliseconds: phone.habits.writesMilliseconds)
                envelopes.append(
                    Envelope([Record(at: at, text: event.text(), fault: nil)], from: phone, at: at.after(seconds: 2)))
            }
        }
        return envelopes.sorted { $0.time < $1.time }
    }

    private func notification(_ id: String, _ campaign: String?) -> Notification {
        var notification = Notification()
        (notification.id, notification.campaign, notification.alert) = (id, campaign, true)
        return notification
    }
}
