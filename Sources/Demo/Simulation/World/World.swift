internal import Telemetry
package import Values

/// An app, its people and their phones, simulated from one moment to the next. The result depends only on the seed and
/// on the given times.
///
/// ```swift
/// var world = World(.news, seed: 1, installs: 1000, from: start, lastDay: day)
/// for envelope in world.advance(to: later) { ... }
/// ```
package struct World {
    let app: AppProfile
    /// The day on which things go wrong, by the app's calendar.
    let lastDay: Int
    /// Whether days are left out: pushes come one by one, and nobody sleeps.
    let isSteady: Bool
    let audience: Audience
    var phones: [Phone] = []
    var agenda = Agenda()
    var dice: Dice
    /// Those of `pursue`.
    var goalDice: Dice
    /// The new push that is tried; nil for none.
    var experiment: PlannedExperiment.Running?
    /// The number of pushes so far, so that each has its own number.
    var pushes: Int64 = 0
    /// The number of events that phones have recorded so far, including duplicates.
    package internal(set) var noted = 0
    /// Envelopes that were sent, and not yet returned to the caller.
    var outbox: [Envelope] = []
    /// Sends to report that were not yet returned to the caller.
    var told: [SendText] = []
    /// Whether Firebase exports what it accepts and delivers.
    package var isExported = false
    /// Rows of that export that were not yet returned to the caller.
    var exported: [FCMExportText] = []
    /// In steady traffic: the recipients of each campaign and variant since the last report.
    var untold: [String: (campaign: Campaign, isSecond: Bool, recipients: Int)] = [:]
    /// The current time of the world.
    package private(set) var now: Timestamp

    /// A world that follows the calendar from a moment on. `lastDay` is a moment on the day on which one version's
    /// extension breaks. A week before that day, people stop tapping one button.
    package init(
        _ app: AppProfile, seed: UInt64, installs: Int, from start: Timestamp, lastDay: Timestamp,
        audience: Audience = Audience()
    ) {
        self.init(app, seed: seed, start: start, lastDay: lastDay, isSteady: false, audience)
        // Most installs exist from the start; the others come gradually.
        let growth = max(0, Double(lastDay - start)) / 1e6
        let past = 400 * 86_400.0
        for _ in 0..<installs {
            welcome(at: start.after(seconds: dice.chance(0.8) ? -dice.between(0, past) : dice.between(0, growth)))
        }
        agenda.enter(.dawn(day: app.home.day(of: start)), at: start)
    }

    /// A world without days, for steady traffic: each `push` is one notification on a random phone.
    package init(steady app: AppProfile, seed: UInt64, installs: Int, from start: Timestamp) {
        self.init(app, seed: seed, start: start, lastDay: start, isSteady: true)
        for _ in 0..<installs { welcome(at: start) }
    }

    private init(
        _ app: AppProfile, seed: UInt64, start: Timestamp, lastDay: Timestamp, isSteady: Bool,
        _ audience: Audience = Audience()
    ) {
        (self.app, self.isSteady, self.audience, now) = (app, isSteady, audience, start)
        self.lastDay = app.home.day(of: lastDay)
        dice = Dice(seed: seed)
        goalDice = Dice(seed: ~seed)
    }

    /// Lets time pass, and returns what phones sent meanwhile, in order.
    package mutating func advance(to time: Timestamp) -> [Envelope] {
        while let (at, what) = agenda.next(until: time) {
            now = at
            happen(what)
        }
        now = max(now, time)
        defer { outbox = [] }
        return outbox
    }

    /// What senders report about sends since the last call, in order.
    package mutating func takeSends() -> [SendText] {
        tellSteadySends()
        defer { told = [] }
        return told
    }

    /// What Firebase has exported since the last call.
    package mutating func takeExport() -> [FCMExportText] {
        defer { exported = [] }
        return exported
    }

    private mutating func happen(_ what: Happening) {
        switch what {
        case .dawn(let day): plan(day)
        case .sending(let campaign): send(campaign)
        case .arrival(let phone, let push): arrive(push, on: phone)
        case .reaction(let phone, let push, let reaction): react(reaction, to: push, on: phone)
        case .launch(let phone):
            launched(phone)
            planLaunch(of: phone)
        case .upload(let phone): upload(from: phone)
        case .repetition(let phone, let records): outbox.append(Envelope(records, from: phones[phone], at: now))
        }
    }

    private mutating func welcome(at time: Timestamp) {
        var phone = Phone(of: app, joinedAt: time, &dice)
        phone.isDormant = audience.isDormant(phone.source.installID)
        phones.append(phone)
        planLaunch(of: phones.count - 1)
    }

    /// Plans when a person next opens the app. People who like it open it more often.
    private mutating func planLaunch(of phone: Int) {
        guard !phones[phone].isDormant else { return }
        let mean = Double(Span.day) / 1e6 / phones[phone].habits.launchesADay
        let time = max(now, phones[phone].joinedAt).after(seconds: dice.waiting(mean: mean))
        agenda.enter(.launch(phone: phone), at: awake(time, phones[phone].zone))
    }

    /// The time itself, or the next morning if people sleep then.
    mutating func awake(_ time: Timestamp, _ zone: Zone) -> Timestamp {
        let hour = zone.hour(of: time)
        guard !isSteady, hour < 6.2 || hour > 23.4 else { return time }
        let morning = zone.start(ofDay: zone.day(of: time) + (hour > 12 ? 1 : 0))
        return morning.after(seconds: 6.2 * 3600 + dice.lognormal(median: 2400, spread: 0.7))
    }

    /// How active people are compared with usual.
    var mood: Double { Zone.weekday(ofDay: app.home.day(of: now)) > 5 ? app.weekend : 1 }

    /// Whether the last day has begun.
    var isBroken: Bool { now >= app.home.start(ofDay: lastDay) }

    /// Whether people have stopped tapping some buttons.
    var isForgetful: Bool { now >= app.home.start(ofDay: lastDay - 7) }
}

/// How many of an app's installs are left, and what is known of the others.
package struct Audience: Sendable {
    /// The share of installs that are dormant: the app is still there and receives pushes, and nobody ever opens it.
    package let dormant: Double
    /// Whether service extensions send receipts themselves. Otherwise receipts wait for the app to be opened.
    package let extensionSends: Bool

    package init(dormant: Double = 0, extensionSends: Bool = true) {
        (self.dormant, self.extensionSends) = (dormant, extensionSends)
    }

    /// Follows from the install, so that everybody else does the same in every audience.
    func isDormant(_ install: UUID) -> Bool { Double(Dice.mix(install.low) >> 11) * 0x1p-53 < dormant }
}
