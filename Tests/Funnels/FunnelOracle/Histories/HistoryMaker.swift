internal import Telemetry
internal import Values

/// Draws a history: which apps, installs and times there are, and what each delivery goes through.
struct HistoryMaker {
    var random: SeededNumbers
    /// For what is about installs.
    private var installRandom: SeededNumbers
    /// For goals.
    private var goalRandom: SeededNumbers
    let timeZoneNames: [String: String]
    private let apps: [String]
    private let installs: [UUID]
    private let night: Timestamp
    private var previousID = UUID(high: 0, low: 0)
    private var taken: Set<StoredEvent.Identity> = []

    init(seed: UInt64, appPrefix: String, steeredBy steering: [UInt8] = []) {
        var random = SeededNumbers(seed: seed, steeredBy: steering)
        // What is about installs is steered by the same bytes, from the end.
        installRandom = SeededNumbers(seed: ~seed, steeredBy: steering.reversed())
        goalRandom = SeededNumbers(seed: seed ^ 0x90a1)
        let names = (1...random.pick(1...3)).map { "\(appPrefix)-\($0)" }
        apps = names
        let night = random.pick(ReportingZone.nights)
        // Mostly the night is one of theirs.
        timeZoneNames = Dictionary(
            uniqueKeysWithValues: names.map { ($0, random.once(in: 3) ? random.pick(ReportingZone.all) : night.zone) })
        installs = (1...random.pick(1...3)).map { _ in UUID(high: random.next(), low: random.next()) }
        self.night = Timestamp(microseconds: night.seconds * 1_000_000)
        self.random = random
    }

    mutating func history(deliveries: Int) -> [StoredEvent] {
        var events: [StoredEvent] = []
        for _ in 0..<random.pick(1...max(1, deliveries)) { events += delivery() }
        var arrived = events
        // A retry repeats an event unchanged, once or often, at once or much later.
        while !events.isEmpty, random.once(in: 2) { arrived.append(random.pick(events)) }
        if !random.once(in: 4) { arrived.shuffle(using: &random) }
        for _ in 0..<installRandom.pick(0...3) {
            let change = change()
            for _ in 0...(installRandom.once(in: 3) ? 1 : 0) {
                arrived.insert(change, at: installRandom.pick(0...arrived.count))
            }
        }
        for _ in 0..<installRandom.pick(0...2) {
            arrived.insert(ofInstall(arrived), at: installRandom.pick(0...arrived.count))
        }
        for _ in 0..<goalRandom.pick([0, 0, 3, 12]) where !events.isEmpty {
            arrived.insert(goal(after: goalRandom.pick(events)), at: goalRandom.pick(0...arrived.count))
        }
        return arrived
    }

    /// A goal about as long after an event as a window is, sometimes of its notification, or of one without an event.
    private mutating func goal(after other: StoredEvent) -> StoredEvent {
        let hour: Int64 = 3_600_000_000
        let occurredAt =
            other.event.occurredAt
            + goalRandom.pick([
                -1_000_000, -1, 0, 0, 1, 1_000_000, 300_000_000, 300_000_001, hour - 1, hour, hour + 1, 5 * hour,
                24 * hour, 24 * hour + 1, 50 * hour, 168 * hour, 168 * hour + 1,
            ])
        let isOff = goalRandom.once(in: 8)
        var notification = Notification()
        switch goalRandom.pick(0..<8) {
        case 0, 1: notification = other.event.notification
        case 2: notification.id = "unknown"
        default: break
        }
        let event = Event(
            id: UUID(high: goalRandom.next(), low: goalRandom.next()),
            deviceAt: isOff ? occurredAt + -86_400_000_000 : occurredAt, occurredAt: occurredAt,
            receivedAt: occurredAt + 5_000_000, timeSource: isOff ? .corrected : .device,
            seq: goalRandom.once(in: 2) ? nil : goalRandom.pick(0...40), source: other.event.source,
            notification: notification,
            interaction: .goalReached(
                Goal(
                    goalRandom.pick(["purchase", "purchase", "sign_up"]),
                    value: goalRandom.pick([nil, 0, 1, 9_990_000, 99_999_999_999_999_999]),
                    currency: goalRandom.pick([nil, "EUR", "THB"]))))
        return StoredEvent(app: other.app, event: event)
    }

    /// A change of what an install's user allows, sometimes to what it was.
    private mutating func change() -> StoredEvent {
        let occurredAt =
            night + installRandom.pick(-100_000...100_000) * 1_000_000 + installRandom.pick([0, 0, 1, 250_500])
        let isOff = installRandom.once(in: 8)
        let source = Source(
            installID: installRandom.pick(installs), locale: installRandom.pick([nil, "th-TH", "de-DE"]),
            timeZone: installRandom.pick([nil, "Asia/Bangkok", "Europe/Berlin"]),
            authorization: installRandom.pick([nil] + Authorization.allCases), settings: settings())
        let new = installRandom.pick([nil, .denied, .denied, .denied] + Authorization.allCases)
        let event = Event(
            id: UUID(high: installRandom.next(), low: installRandom.next()),
            deviceAt: isOff ? occurredAt + -86_400_000_000 : occurredAt, occurredAt: occurredAt,
            receivedAt: occurredAt + 5_000_000, timeSource: isOff ? .corrected : .device,
            seq: installRandom.once(in: 2) ? nil : installRandom.pick(0...40), source: source,
            notification: Notification(),
            interaction: .permissionChanged(to: new, from: installRandom.pick([nil, .denied, .denied, .authorized])))
        return StoredEvent(app: installRandom.pick(apps), event: event)
    }

    /// A goal, which may name a notification that there is, or a change of settings.
    private mutating func ofInstall(_ others: [StoredEvent]) -> StoredEvent {
        let named = installRandom.once(in: 2) ? installRandom.pick(others) : nil
        let occurredAt = night + installRandom.pick(-100_000...100_000) * 1_000_000
        let isGoal = named != nil || installRandom.once(in: 2)
        let event = Event(
            id: UUID(high: installRandom.next(), low: installRandom.next()), deviceAt: occurredAt,
            occurredAt: occurredAt, receivedAt: occurredAt + 5_000_000, timeSource: .device,
            source: Source(
                installID: named?.event.source.installID ?? installRandom.pick(installs),
                authorization: installRandom.pick([nil] + Authorization.allCases), settings: settings()),
            notification: named?.event.notification ?? Notification(),
            interaction: isGoal
                ? .goalReached(
                    Goal(
                        installRandom.pick(["purchase", "sign_up"]), value: installRandom.pick([nil, 0, 9_990_000]),
                        currency: installRandom.pick([nil, "EUR"]))) : .settingsChanged)
        return StoredEvent(app: named?.app ?? installRandom.pick(apps), event: event)
    }

    private mutating func settings() -> Settings {
        var settings = Settings()
        for setting in [\Settings.alerts, \.lockScreen, \.scheduledSummary] {
            settings[keyPath: setting] = installRandom.pick([nil, .on, .off, .off, .unsupported])
        }
        return settings
    }

    /// The events of one delivery; sometimes of one that is there already.
    private mutating func delivery() -> [StoredEvent] {
        let app = random.pick(apps)
        let install = random.pick(installs)
        let key = NotificationNames(number: random.pick(1...9), form: random.pick(0...3))
        let seldom = random.once(in: 300)
        let plot = seldom ? Plot.endlessStory(&random) : Plot.random(&random)
        let contradicts = random.once(in: 2)
        let usual = attributes()
        var time = night + random.pick(-10_800...10_800) * 1_000_000 + random.pick([0, 0, 1, 250_500, 999_999])
        var seq = random.once(in: 4) ? nil : random.pick(0...40) as Int64?
        return plot.map { interaction in
            var attributes = contradicts && random.once(in: 2) ? self.attributes() : usual
            if seldom { time = time + random.pick([0, 400, 1_000_000]) } else { time = time + gap() }
            // Late news of earlier, or of the day before.
            let occurredAt =
                random.once(in: 12) && !seldom
                ? time + -random.pick([1, 1_000_000, 7_200_000_000, 90_000_000_000]) : time
            if let next = seq { seq = random.once(in: 5) ? next : next + 1 }
            let alert = attributes.notification.alert
            attributes.notification.alert =
                interaction.isSilentPush && !random.once(in: 8) ? (alert == true ? nil : alert) : alert
            key.name(&attributes.notification, &random)
            let clock = deviceClock(of: occurredAt)
            let event = Event(
                id: identifier(), deviceAt: clock.at, occurredAt: occurredAt, receivedAt: occurredAt + 5_000_000,
                timeSource: clock.source, seq: random.once(in: 6) ? nil : seq,
                source: attributes.source(of: install),
                notification: attributes.notification, interaction: interaction)
            return distinct(StoredEvent(app: app, event: event))
        }
    }

    private mutating func gap() -> Int64 {
        random.pick([
            0, 0, 0, 1, 999, 1_000, 1_500, 37_499, 400_000, 1_000_000, 1_400_001, 2_345_678, 4_599_999, 4_600_000,
            5_000_000, 5_400_000, 5_400_001, 59_999_999, 60_000_000, 60_000_001,
            300_000_000, 3_600_000_000, 10_800_000_000,
        ])
    }

    /// Mostly right; else off by more than five minutes and corrected, or in the future and clamped.
    private mutating func deviceClock(of occurredAt: Timestamp) -> (at: Timestamp, source: TimeSource) {
        switch random.pick(0..<20) {
        case 0: (occurredAt + random.pick([-86_400_000_000, -301_000_000, 600_000_000]), .corrected)
        case 1: (occurredAt + 86_400_000_000, .clamped)
        default: (occurredAt, .device)
        }
    }

    /// Version 7, version 4 or the last one again: an id is one event's only together with the device's time.
    private mutating func identifier() -> UUID {
        if !random.once(in: 25) {
            let high = random.once(in: 2) ? random.next() : 0x0199_f1c2_7c1e_7000 | random.next() & 0xfff
            previousID = UUID(high: high, low: random.next())
        }
        return previousID
    }

    /// Two events never share an identity: no client and no log makes such, and which of them counts would be chance.
    private mutating func distinct(_ stored: StoredEvent) -> StoredEvent {
        var stored = stored
        while !taken.insert(stored.identity).inserted {
            stored.event.id = UUID(high: random.next(), low: random.next())
        }
        return stored
    }

    private mutating func attributes() -> Attributes {
        Attributes(
            notification: Notification(
                category: random.pick([nil, "NEWS", "PW_STORIES", "ANSWER", "caf\u{e9}", "cafe\u{301}"]),
                thread: random.pick([nil, "promo", "chat"]), campaign: random.pick([nil, "spring", "black-friday"]),
                variant: random.pick([nil, "a", "b"]), analyticsLabel: random.pick([nil, nil, "label", "sale"]),
                topic: random.pick([nil, nil, "news", "sport"]),
                interruptionLevel: random.pick([nil, "active", "time-sensitive"]),
                origin: random.pick([nil, .remote, .local]),
                alert: random.pick([nil, true, false]),
                sentAt: random.pick([nil, nil, night, night + -20_000_000, night + 3_600_000_000])),
            platform: random.pick([nil, "ios", "ios", "macos"]), appVersion: random.pick([nil, "4.2.0", "4.10.0"]),
            osVersion: random.pick([nil, "26.1", "18.7"]), deviceModel: random.pick([nil, "iPhone17,1", "iPad16,3"]),
            locale: random.pick([nil, "th-TH", "de-DE"]),
            timeZone: installRandom.pick([nil, "Asia/Bangkok", "Europe/Berlin"]),
            authorization: random.pick([nil] + Authorization.allCases), settings: settings())
    }
}

/// What an event says about its notification and its source besides names.
private struct Attributes {
    var notification: Notification
    var platform: String?
    var appVersion: String?
    var osVersion: String?
    var deviceModel: String?
    var locale: String?
    var timeZone: String?
    var authorization: Authorization?
    var settings: Settings

    func source(of install: UUID) -> Source {
        Source(
            installID: install, platform: platform, osVersion: osVersion, appVersion: appVersion,
            deviceModel: deviceModel,
            locale: locale, timeZone: timeZone, authorization: authorization, settings: settings)
    }
}

/// One notification key, and the ids by which an event may name it.
private struct NotificationNames {
    let number: Int
    let form: Int

    func name(_ notification: inout Notification, _ random: inout SeededNumbers) {
        switch form {
        case 0, 1:
            notification.fcmMessageID = random.pick([
                "projects/p/messages/0:17\(number)%ab", "0:17\(number)%31bd1c96", "17\(number)",
                "projects/q/messages/17\(number)",
            ])
            // The FCM id goes before what else an event carries.
            notification.deliveryID = random.pick([nil, "d\(random.pick(1...9))"])
            notification.id = random.pick([nil, "req-\(random.pick(1...9))"])
        case 2:
            notification.deliveryID = "17\(number)"
            notification.id = random.pick([nil, "req-1"])
        default: notification.id = "0:17\(number)"
        }
    }
}

extension Interaction {
    /// Whether it is the receipt of a silent push.
    fileprivate var isSilentPush: Bool {
        if case .received(let receipt) = self { receipt.via == .background } else { false }
    }
}
