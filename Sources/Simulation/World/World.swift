package import Values

/// An app, its people and their phones, from one moment to the next. What it does depends on its seed and on the times
/// that it is told, on nothing else.
///
/// ```swift
/// var world = World(.news, seed: 1, installs: 1000, from: start, lastDay: day)
/// for envelope in world.advance(to: later) { ... }
/// ```
package struct World {
    let app: AppProfile
    /// By the calendar of the app: the day on which things go wrong.
    let lastDay: Int
    /// Where the day is left out: pushes come one by one, and nobody sleeps.
    let isSteady: Bool
    var phones: [Phone] = []
    var agenda = Agenda()
    var dice: Dice
    /// Pushes so far, so that each has a number of its own.
    var pushes: Int64 = 0
    /// Events that phones have written down so far, repetitions included.
    package internal(set) var noted = 0
    /// What has been sent and was not yet handed out.
    var outbox: [Envelope] = []
    /// What senders have to tell and was not yet handed out.
    var told: [SendText] = []
    /// Of steady traffic, to how many each campaign and variant went since that was told last.
    var untold: [String: (campaign: Campaign, isSecond: Bool, recipients: Int)] = [:]
    /// How far it has come.
    package private(set) var now: Timestamp

    /// A world that follows the calendar from a moment on. `lastDay` is a moment of the day on which one version's
    /// extension breaks, counted back from which one button is not tapped any more.
    package init(_ app: AppProfile, seed: UInt64, installs: Int, from start: Timestamp, lastDay: Timestamp) {
        self.init(app, seed: seed, start: start, lastDay: lastDay, isSteady: false)
        // Most are there from before; the others come by and by.
        let growth = max(0, Double(lastDay - start)) / 1e6
        let past = 400 * 86_400.0
        for _ in 0..<installs {
            welcome(at: start.after(seconds: dice.chance(0.8) ? -dice.between(0, past) : dice.between(0, growth)))
        }
        agenda.enter(.dawn(day: app.home.day(of: start)), at: start)
    }

    /// A world without days, for traffic at an even rate: each `push` is one notification on any phone.
    package init(steady app: AppProfile, seed: UInt64, installs: Int, from start: Timestamp) {
        self.init(app, seed: seed, start: start, lastDay: start, isSteady: true)
        for _ in 0..<installs { welcome(at: start) }
    }

    private init(_ app: AppProfile, seed: UInt64, start: Timestamp, lastDay: Timestamp, isSteady: Bool) {
        (self.app, self.isSteady, now) = (app, isSteady, start)
        self.lastDay = app.home.day(of: lastDay)
        dice = Dice(seed: seed)
    }

    /// Lets time pass, and gives what phones have sent meanwhile, in order.
    package mutating func advance(to time: Timestamp) -> [Envelope] {
        while let (at, what) = agenda.next(until: time) {
            now = at
            happen(what)
        }
        now = max(now, time)
        defer { outbox = [] }
        return outbox
    }

    /// What senders tell of the sends since they were asked last, in order.
    package mutating func takeSends() -> [SendText] {
        tellSteadySends()
        defer { told = [] }
        return told
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
        phones.append(Phone(of: app, joinedAt: time, &dice))
        planLaunch(of: phones.count - 1)
    }

    /// People open the app now and then, those who like it more often.
    private mutating func planLaunch(of phone: Int) {
        let mean = Double(Span.day) / 1e6 / phones[phone].habits.launchesADay
        let time = max(now, phones[phone].joinedAt).after(seconds: dice.waiting(mean: mean))
        agenda.enter(.launch(phone: phone), at: awake(time, phones[phone].zone))
    }

    /// The time, or the next morning for one at which people sleep.
    mutating func awake(_ time: Timestamp, _ zone: Zone) -> Timestamp {
        let hour = zone.hour(of: time)
        guard !isSteady, hour < 6.2 || hour > 23.4 else { return time }
        let morning = zone.start(ofDay: zone.day(of: time) + (hour > 12 ? 1 : 0))
        return morning.after(seconds: 6.2 * 3600 + dice.lognormal(median: 2400, spread: 0.7))
    }

    /// What people do of what they usually do.
    var mood: Double { Zone.weekday(ofDay: app.home.day(of: now)) > 5 ? app.weekend : 1 }

    /// Whether the last day has come, or is over.
    var isBroken: Bool { now >= app.home.start(ofDay: lastDay) }

    /// Whether some buttons have been forgotten.
    var isForgetful: Bool { now >= app.home.start(ofDay: lastDay - 7) }
}
