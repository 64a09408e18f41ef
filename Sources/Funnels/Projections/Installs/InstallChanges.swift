internal import Postgres
internal import ServiceRuntime
internal import Values

/// What a step makes of its sightings: new days of installs, and changed ones.
struct InstallChanges {
    private(set) var inserted: [InstallDay] = []
    private(set) var updated: [InstallDay] = []
    /// Days as they were, which no longer count. Updated ones come in the same order as in `updated`.
    private(set) var replaced: [InstallDay] = []
    /// Where the rows of the updated ones are.
    private(set) var places: [RowPlace] = []

    /// Days that are read together, and all other days of their installs. Rows are small: a hostile client can make one
    /// of some ten kilobytes.
    static let mostDays = 1_024

    /// A day of an install, and what is new of it.
    struct Asked {
        let key: Int64
        let name: InstallDay.Name
        let news: InstallDayState?
    }

    /// Adds news of some installs to what is stored of them. If notifications were turned off within reach of a new
    /// receipt, that day changes with it.
    fileprivate init(_ news: ArraySlice<Asked>, in table: InstallDayTable, on connection: inout Connection) throws {
        let muted = try Self.muted(news, in: table, on: &connection)
        var asked = Array(news)
        if !muted.isEmpty {
            var others = muted
            for name in muted {
                for back in 1...InstallDay.daysBack { others.insert(name.on(name.day.advanced(by: -back))) }
            }
            others.subtract(news.lazy.map(\.name))
            asked += others.map { Asked(key: table.key(of: $0), name: $0, news: nil) }
        }
        // In the order of the index, since neighbours share its pages.
        asked.sort { $0.key < $1.key }
        let stored = try table.read(asked.map { ($0.key, $0.name) }, on: &connection)
        let states = zip(asked, stored).map { asked, stored in
            guard var state = stored?.day.state else { return asked.news }
            if let news = asked.news { state.merge(news) }
            return state
        }
        // Whose notifications were turned off depends on the days before. That is rare.
        var known: [InstallDay.Name: InstallDayState] = [:]
        if !muted.isEmpty { for (asked, state) in zip(asked, states) { known[asked.name] = state } }
        for (place, asked) in asked.enumerated() {
            let name = asked.name
            guard let state = states[place], asked.news != nil || muted.contains(name) else { continue }
            var day = InstallDay(name, state: state)
            if day.facts.turnedOff != nil {
                day.findMuted(
                    among: (0...InstallDay.daysBack).compactMap { known[name.on(name.day.advanced(by: -$0))] })
            }
            guard let old = stored[place] else {
                inserted.append(day)
                continue
            }
            if old.day.state == day.state, old.day.muted == day.muted { continue }
            updated.append(day)
            replaced.append(old.day)
            places.append(old.place)
        }
    }

    /// Removes these days.
    init(removed days: [InstallDay]) { replaced = days }

    /// Counts these days, whose rows are not written.
    init(inserted days: [InstallDay]) { inserted = days }

    /// The days, stored or new, on which notifications were turned off: on a day with news, or not long after.
    private static func muted(
        _ news: ArraySlice<Asked>, in table: InstallDayTable, on connection: inout Connection
    ) throws(PostgresError) -> Set<InstallDay.Name> {
        var new: Set<InstallDay.Name> = []
        var reached: [(install: InstallDay.Name, first: CivilDate, last: CivilDate)] = []
        for asked in news {
            if asked.news?.sightings.contains(where: { $0.change == .off }) == true { new.insert(asked.name) }
            let (name, end) = (asked.name, asked.name.day.advanced(by: InstallDay.daysBack))
            // Days of an install come one after another, and mostly lie close together: one look for all of them.
            if let last = reached.last, last.install.install == name.install, last.install.app == name.app,
                last.first <= name.day, name.day <= last.last
            {
                reached[reached.count - 1].last = max(last.last, end)
            } else {
                reached.append((name, name.day, end))
            }
        }
        return new.union(try table.muted(of: reached, on: &connection))
    }
}

extension InstallDayTable {
    /// Adds news to the table, some installs at a time, and tells `body` what that changes. All days of an install come
    /// one after another.
    func add(
        _ asked: [InstallChanges.Asked], _ watch: PhaseWatch<StepPhase>? = nil, on connection: inout Connection,
        _ body: (InstallChanges, inout Connection) throws -> Void
    ) throws {
        var rest = asked[...]
        while !rest.isEmpty {
            var end = min(rest.startIndex + InstallChanges.mostDays, rest.endIndex)
            while end < rest.endIndex, Self.installBits(of: rest[end].key) == Self.installBits(of: rest[end - 1].key) {
                end += 1
            }
            watch?.enter(.lookUp)
            let changes = try InstallChanges(rest[..<end], in: self, on: &connection)
            watch?.enter(.write)
            try write(changes, on: &connection)
            watch?.enter(.fold)
            try body(changes, &connection)
            rest = rest[end...]
        }
    }
}
