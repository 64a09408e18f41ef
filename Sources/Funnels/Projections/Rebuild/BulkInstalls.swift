internal import EventLog
internal import Postgres
internal import Values

/// The days of installs of some shards, folded from all of their events at once, install by install.
struct BulkInstalls {
    private let lane: Lane
    private var cells: CellChanges
    private var finished: [InstallDay] = []

    /// The install whose events are being read: what is new of each of its days, and what was folded before.
    private var install: InstallDay.Name?
    private var sightings: [InstallDay.Name: [Sighting]] = [:]
    private var held = 0
    private var states: [InstallDay.Name: InstallDayState] = [:]

    init(of lane: Lane) {
        self.lane = lane
        cells = CellChanges(of: lane.running)
    }

    /// A cursor over the events of these shards. Those of sealed days do not count. A day that is sealed later gives up
    /// the generation that this is for.
    static func events(in shards: [Int16], on connection: inout Connection) throws(PostgresError) -> String {
        let some = try connection.queryPrepared("SELECT EXISTS (SELECT FROM projection.sealed_install_day)")
        let scatter = try Scatter(on: &connection)
        let exceptSealed = """
            WHERE NOT EXISTS (
                SELECT FROM projection.sealed_install_day AS s
                WHERE \(scatter.isSameInstall("s", "e")) AND s.install_id = e.install_id AND s.app = e.app AND s.shard = e.shard
                    AND e.occurred_at >= s.from_at AND e.occurred_at < s.to_at)
            """
        return """
            DECLARE bulk_installs NO SCROLL CURSOR FOR
            SELECT \(EventReader.columns) FROM (
                SELECT \(EventReader.opened) FROM log.event AS e
                WHERE e.codes >> 4 & 63 IN (\(shards.map { "\($0)" }.joined(separator: ", ")))
            ) AS e JOIN log.app AS a ON a.id = e.app
            \(try some[0].get(0) ? exceptSealed : "")
            ORDER BY e.install_id, e.app
            """
    }

    /// Takes an event.
    mutating func add(_ row: Int, of rows: Rows, _ words: EventWords) throws(PostgresError) {
        let name = try EventReader.install(row, of: rows)
        if let install, install.install != name.install || install.app != name.app { finishInstall() }
        install = name
        sightings[name, default: []].append(try Observation.read(row, of: rows, words).1)
        held += 1
        // However many events an install has, what is kept of a day is bounded.
        if held >= Self.mostSightings { foldSightings() }
    }

    private static let mostSightings = 4_096

    private mutating func foldSightings() {
        for (name, sightings) in sightings {
            let news = InstallDayState(of: sightings)
            if states[name]?.merge(news) == nil { states[name] = news }
        }
        (sightings, held) = ([:], 0)
    }

    private mutating func finishInstall() {
        foldSightings()
        for (name, state) in states {
            var day = InstallDay(name, state: state)
            if day.facts.turnedOff != nil {
                day.findMuted(
                    among: (0...InstallDay.daysBack).compactMap { states[name.on(name.day.advanced(by: -$0))] })
            }
            finished.append(day)
        }
        states = [:]
    }

    /// Whether what is finished should be written.
    var isFull: Bool { finished.count >= 8_192 }

    mutating func write(on connection: inout Connection) throws {
        // In the order of the index, since neighbours share its pages.
        let table = lane.installDays
        let days = finished.map { (key: table.key(of: $0.name), day: $0) }.sorted { $0.key < $1.key }.map(\.day)
        finished = []
        try table.insert(days, on: &connection)
        try cells.count(InstallChanges(inserted: days), on: &connection)
    }

    /// Writes what is left, when there are no more events.
    mutating func finish(on connection: inout Connection) throws {
        finishInstall()
        try write(on: &connection)
        try cells.write(on: &connection)
    }
}
