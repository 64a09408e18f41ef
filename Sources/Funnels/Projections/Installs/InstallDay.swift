package import Values

/// An install on a day on which it sent an event, as it is at some position of the log: what `install_days` counts, and
/// what `analytics.installs` is made of.
package struct InstallDay: Sendable {
    package let name: Name
    package let state: InstallDayState
    package let facts: InstallFacts
    /// What the install had last received when notifications were first turned off on this day; nil if they were not.
    package var muted: Muted?

    /// (app, install, day in the app's time zone), and the shard, which follows from the install.
    package struct Name: Hashable, Sendable {
        package let app: Int32
        package let shard: Int16
        package let install: UUID
        package let day: CivilDate

        package init(app: Int32, shard: Int16, install: UUID, day: CivilDate) {
            self.app = app
            self.shard = shard
            self.install = install
            self.day = day
        }

        package func hash(into hasher: inout Hasher) {
            // Whole, since clients choose it; apps are few.
            hasher.combine(install)
            hasher.combine(day.daysSince1970)
        }

        func on(_ day: CivilDate) -> Name { Name(app: app, shard: shard, install: install, day: day) }
    }

    /// What came before notifications were turned off.
    package enum Muted: Hashable, Sendable {
        /// The last receipt in the 24 hours before.
        case after(Sighting.Receipt)
        case afterNothing
    }

    /// `muted` is found later, since it depends on the days before, too.
    package init(_ name: Name, state: InstallDayState, muted: Muted? = nil) {
        self.name = name
        self.state = state
        self.muted = muted
        facts = InstallFacts(of: state)
    }

    /// How long a receipt may be ago, and on how many earlier days it may lie: a day may have 23 hours.
    package static let reach: Int64 = 86_400_000_000
    package static let daysBack = 2

    /// What the install had last received when it turned notifications off, among the receipts of these states: those
    /// of the day and of the days before.
    package mutating func findMuted(among states: [InstallDayState]) {
        guard let off = facts.turnedOff else { return muted = nil }
        var last: (moment: Moment, receipt: Sighting.Receipt)?
        for state in states {
            for sighting in state.sightings {
                guard let receipt = sighting.receipt, sighting.moment < off,
                    off.occurredAt - sighting.moment.occurredAt <= Self.reach,
                    last.map({ $0.moment < sighting.moment }) ?? true
                else { continue }
                last = (sighting.moment, receipt)
            }
        }
        muted = last.map { .after($0.receipt) } ?? .afterNothing
    }
}

/// What an install's events of a day say together.
package struct InstallFacts: Hashable, Sendable {
    /// Each is what the last event that says it says, in event order.
    package private(set) var device = DeviceWords()
    package let firstAt: Timestamp
    package let lastAt: Timestamp
    /// The first change to denied.
    package private(set) var turnedOff: Moment?
    package private(set) var isTurnedOn = false
    /// The last change, and what it changed to.
    package private(set) var changedAt: Timestamp?
    package private(set) var changedTo: Int16 = 0

    init(of state: InstallDayState) {
        firstAt = state.sightings[0].moment.occurredAt
        lastAt = state.sightings[state.sightings.count - 1].moment.occurredAt
        for sighting in state.sightings.reversed() {
            device.complete(from: sighting.device)
            guard let change = sighting.change else { continue }
            if changedAt == nil { (changedAt, changedTo) = (sighting.moment.occurredAt, sighting.device.authorization) }
            switch change {
            case .off: turnedOff = sighting.moment
            case .on: isTurnedOn = true
            case .other: break
            }
        }
    }
}
