internal import Postgres
internal import Values

/// What a step makes of its sightings: new days of installs, and changed ones.
struct InstallChanges {
    private(set) var inserted: [InstallDay] = []
    private(set) var updated: [InstallDay] = []
    /// Days as they were, which no longer count. Updated ones come in the same order as in `updated`.
    private(set) var replaced: [InstallDay] = []

    typealias News = [InstallDay.Name: InstallDayState]

    /// Days that are read together, and all other days of their installs. Rows are small: a hostile client can make one of some
    /// ten kilobytes.
    static let mostDays = 1_024

    /// Adds news of some installs to what is stored of them. If notifications were turned off within reach of a new receipt,
    /// that day changes with it.
    init(_ news: News, in table: InstallDayTable, on connection: inout Connection) throws {
        let muted = try Self.muted(news, in: table, on: &connection)
        var wanted = Set(news.keys).union(muted)
        for name in muted {
            for back in 1...InstallDay.daysBack { wanted.insert(name.on(name.day.advanced(by: -back))) }
        }
        // In the order of the index, since neighbours share its pages.
        let names = wanted.map { (key: table.key(of: $0), name: $0) }.sorted { $0.key < $1.key }.map(\.name)
        let stored = try table.read(names, on: &connection)
        var states = stored.mapValues(\.state)
        for (name, state) in news {
            if states[name]?.merge(state) == nil { states[name] = state }
        }
        for name in names {
            guard let state = states[name], news[name] != nil || muted.contains(name) else { continue }
            var day = InstallDay(name, state: state)
            if day.facts.turnedOff != nil {
                day.findMuted(
                    among: (0...InstallDay.daysBack).compactMap { states[name.on(name.day.advanced(by: -$0))] })
            }
            guard let old = stored[name] else {
                inserted.append(day)
                continue
            }
            if old.state == day.state, old.muted == day.muted { continue }
            updated.append(day)
            replaced.append(old)
        }
    }

    /// Removes these days.
    init(removed days: [InstallDay]) { replaced = days }

    /// Inserts these days.
    init(inserted days: [InstallDay]) { inserted = days }

    /// The days, stored or new, on which notifications were turned off not long after news.
    private static func muted(
        _ news: News, in table: InstallDayTable, on connection: inout Connection
    ) throws(PostgresError) -> Set<InstallDay.Name> {
        var new: Set<InstallDay.Name> = []
        var reached: [(install: InstallDay.Name, first: CivilDate, last: CivilDate)] = []
        for (name, state) in news {
            if state.sightings.contains(where: { $0.change == .off }) { new.insert(name) }
            reached.append((name, name.day, name.day.advanced(by: InstallDay.daysBack)))
        }
        return new.union(try table.muted(of: reached, on: &connection))
    }
}

extension InstallDayTable {
    /// Adds news to the table, some installs at a time, and tells `body` what that changes.
    func add(
        _ news: InstallChanges.News, on connection: inout Connection,
        _ body: (InstallChanges, inout Connection) throws -> Void
    ) throws {
        var part: InstallChanges.News = [:]
        // All days of an install are in one part.
        for (_, days) in Dictionary(grouping: news.keys, by: { Install(app: $0.app, id: $0.install) }) {
            for name in days { part[name] = news[name] }
            guard part.count >= InstallChanges.mostDays else { continue }
            try add(part: part, on: &connection, body)
            part = [:]
        }
        if !part.isEmpty { try add(part: part, on: &connection, body) }
    }

    private struct Install: Hashable {
        let app: Int32
        let id: UUID
    }

    private func add(
        part: InstallChanges.News, on connection: inout Connection,
        _ body: (InstallChanges, inout Connection) throws -> Void
    ) throws {
        let changes = try InstallChanges(part, in: self, on: &connection)
        try insert(changes.inserted, on: &connection)
        try update(changes.updated, on: &connection)
        try body(changes, &connection)
    }
}
