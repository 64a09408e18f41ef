internal import Telemetry
internal import Values

/// One install: its properties, how it is used, and what it still has to send.
struct Phone {
    /// The source in each of its envelopes.
    private(set) var source: Source
    let zone: Zone
    let habits: Habits
    let clock: Clock
    let joinedAt: Timestamp
    /// Whether its owner never comes back: the app is installed and receives, and nobody opens it or answers.
    var isDormant = false
    /// Whether its owner has turned notifications off in the settings. The app learns of it when it next comes to the
    /// front.
    var isMuted = false
    /// How often its owner has opened the app since the app has known that notifications are off.
    private var launchesWithout = 0
    /// The number of notifications that were shown while the app was not in front.
    private var shown = 0
    /// The index of the app's version.
    private(set) var version: Int
    /// Until then, it neither receives nor sends anything.
    var offlineUntil: Timestamp
    /// Recorded and not sent yet, in the order of `seq`.
    var pending: [Record] = []
    /// In the notification centre.
    var centre: [Push] = []
    /// What it sent last, for duplicates.
    var lastSent: [Record] = []
    /// Whether the agenda contains an upload.
    var isUploadPlanned = false
    private var seq: Int64 = 0

    /// How its owner uses it.
    struct Habits {
        /// How often its owner responds to notifications; 1 is usual.
        let engagement: Double
        /// The share of time on Wi-Fi.
        let wifi: Double
        /// Whether the service extension sends its events itself. Otherwise they wait for the next launch.
        let sendsAtOnce: Bool
        let launchesADay: Double
        /// An old library writes times as milliseconds.
        let writesMilliseconds: Bool
    }

    /// The behaviour of its clock.
    struct Clock {
        /// How many microseconds it is ahead.
        let error: Int64
        /// Whether it sometimes runs ahead, but is right again when events are sent.
        let jumps: Bool
    }

    init(
        source: Source, version: Int, zone: Zone, habits: Habits, clock: Clock, joinedAt: Timestamp
    ) {
        (self.source, self.version, self.zone, self.habits) = (source, version, zone, habits)
        (self.clock, self.joinedAt, offlineUntil) = (clock, joinedAt, joinedAt)
    }

    /// False if turned off, denied or not asked yet: nothing is shown, but silent pushes still wake the app.
    var showsAlerts: Bool {
        !isMuted && source.authorization != .denied && source.authorization != .notDetermined
    }

    /// One more notification is shown. Whether it makes its owner turn notifications off: which one does follows from
    /// the install alone, so it is the same in every audience and on every day. Who likes the app is more patient.
    mutating func isTooMuch() -> Bool {
        let luck = Double(Dice.mix(source.installID.low &+ 2) >> 11) * 0x1p-53
        let annoyance = 0.0008 / (0.5 + habits.engagement)
        shown += 1
        return !isDormant && shown == 1 + Int(min(luck / annoyance, 1e6))
    }

    /// Updates the app to a newer version.
    mutating func update(to version: Int, named name: String) {
        self.version = version
        describe(appVersion: name, authorization: source.authorization)
    }

    private mutating func describe(appVersion: String?, authorization: Authorization?) {
        source = Source(
            installID: source.installID, platform: source.platform, osVersion: source.osVersion,
            appVersion: appVersion, sdk: source.sdk, deviceModel: source.deviceModel, locale: source.locale,
            timeZone: source.timeZone, fid: source.fid, authorization: authorization, settings: source.settings)
    }

    /// Whether its owner misses notifications that are off, and turns them on again. It follows from the install.
    private var isMissed: Bool { Dice.mix(source.installID.low &+ 1) % 3 == 0 }

    /// The app comes to the front. Records that notifications were turned off, if it has not seen that yet, or that
    /// they were turned on again: by some, when they have looked into the app a few times without having been told.
    mutating func noteSetting(at time: Timestamp, _ dice: inout Dice) -> Bool {
        guard source.authorization == .denied else {
            guard isMuted else { return false }
            launchesWithout = 0
            change(to: .denied, at: time, &dice)
            return true
        }
        launchesWithout += 1
        guard isMissed, launchesWithout > 2 else { return false }
        isMuted = false
        change(to: .authorized, at: time, &dice)
        return true
    }

    private mutating func change(to authorization: Authorization, at time: Timestamp, _ dice: inout Dice) {
        seq += 1
        let written = EventText(
            id: UUID(time: time + clock.error, &dice), at: time + clock.error, seq: seq, notification: Notification(),
            interaction: .permissionChanged(to: authorization, from: source.authorization),
            writesMilliseconds: habits.writesMilliseconds)
        pending.append(Record(at: time, text: written.text(), fault: nil))
        describe(appVersion: source.appVersion, authorization: authorization)
    }

    /// Records a goal, which is about no notification.
    mutating func note(_ goal: Goal, at time: Timestamp, _ dice: inout Dice) {
        let written = EventText(
            id: UUID(time: time + clock.error, &dice), at: time + clock.error, seq: nil, notification: Notification(),
            interaction: .goalReached(goal), writesMilliseconds: habits.writesMilliseconds)
        pending.append(Record(at: time, text: written.text(), fault: nil))
    }

    /// Records an event about a notification.
    mutating func note(
        _ interaction: Interaction, of push: Push, at time: Timestamp, in app: AppProfile, fault: Fault? = nil,
        _ dice: inout Dice
    ) {
        seq += 1
        // No library is free of bugs.
        let fault = fault ?? (dice.chance(0.0006) ? dice.pick(Fault.anywhere) : nil)
        let ahead = clock.jumps && dice.chance(0.5) ? Int64(dice.between(0.2, 40)) * Span.hour : 0
        let spelling: Push.Spelling = dice.chance(0.93) ? .phone : dice.chance(0.5) ? .resource : .digits
        let written = EventText(
            id: UUID(time: time + clock.error, &dice), at: time + (clock.error + ahead), seq: seq,
            notification: push.notification(spelling, project: app.project), interaction: interaction,
            writesMilliseconds: habits.writesMilliseconds, isInExperiment: dice.chance(0.02))
        pending.append(Record(at: time, text: written.text(with: fault), fault: fault?.reason))
    }

    /// Records that a notification was found in the notification centre. Its time and id follow from the notification,
    /// so finding it again gives the same event.
    mutating func noteFound(_ push: Push, at time: Timestamp, in app: AppProfile) {
        let bits = UInt64(push.number) ^ source.installID.low
        let written = EventText(
            id: UUID(high: Dice.mix(bits) & ~0xf000 | 0x8000, low: Dice.mix(bits &+ 1) >> 2 | 1 << 63),
            at: push.arrivedAt + clock.error, seq: nil, notification: push.notification(.digits, project: app.project),
            interaction: .received(Receipt(via: .deliveredList)), writesMilliseconds: habits.writesMilliseconds)
        pending.append(Record(at: time, text: written.text(), fault: nil, isRepeated: push.isSwept))
    }
}

extension UUID {
    /// A UUID of version 7: the time in milliseconds, then random bits.
    init(time: Timestamp, _ dice: inout Dice) {
        self.init(high: UInt64(time.milliseconds) << 16 | 0x7000 | dice.next() & 0xfff, low: dice.next() >> 2 | 1 << 63)
    }
}
