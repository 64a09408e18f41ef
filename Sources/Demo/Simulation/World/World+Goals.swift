internal import Telemetry
internal import Values

extension World {
    /// People came to the app, and some do there what it is for. It has dice of its own: without goals all else is the
    /// same.
    mutating func pursue(_ phone: Int, after seconds: Double = 0, by campaign: Campaign? = nil) {
        guard !isSteady else { return }
        for aim in app.aims {
            var usual = campaign == nil ? aim.byThemselves : aim.afterNotification
            if let campaign, let planted = experiment?.share(of: aim.name, after: campaign) { usual = planted }
            guard goalDice.chance(usual * (0.5 + phones[phone].habits.engagement)) else { continue }
            let pause = seconds + goalDice.lognormal(median: aim.medianSeconds, spread: 0.9)
            let value = aim.value.map { Int64(goalDice.lognormal(median: $0.median, spread: 0.6) * 100) * 10_000 }
            let goal = Goal(aim.name, value: value, currency: aim.value?.currency)
            phones[phone].note(goal, at: now.after(seconds: min(pause, 3_600)), &goalDice)
            noted += 1
        }
    }
}
