internal import Postgres
internal import Values

/// The days of which a transaction changes deliveries, or installs that turned notifications off. Results that depend
/// on them are kept (`KeptDays`), and must be seen to be out of date in the same moment.
///
/// A transaction counts in the rows of the smallest shard that it has locked. So no two write the same row.
struct DayRevisions {
    private struct Day: Hashable {
        let app: Int32
        let day: CivilDate
    }

    private let generation: Int32
    private let shard: Int16
    private var days: Set<Day> = []
    /// Most changes of a step are of one day.
    private var last: Day?

    init(in lane: Lane) { (generation, shard) = (lane.generation, lane.shards.min() ?? 0) }

    mutating func note(_ deliveries: [Delivery]) {
        for delivery in deliveries { note(Day(app: delivery.name.app, day: delivery.day)) }
    }

    /// Of installs, kept results depend only on when they turned notifications off.
    mutating func note(_ days: [InstallDay]) {
        for day in days where day.facts.turnedOff != nil { note(Day(app: day.name.app, day: day.name.day)) }
    }

    private mutating func note(_ day: Day) {
        guard day != last else { return }
        last = day
        days.insert(day)
    }

    /// Counts up what was noted, and forgets it; nil if that is nothing.
    mutating func take() -> Statement? {
        guard !days.isEmpty else { return nil }
        let noted = Array(days)
        (days, last) = ([], nil)
        return """
            INSERT INTO projection.day_revision AS known (generation, app, day, shard, revision)
            SELECT \(generation), noted.app, noted.day, \(shard), 1
            FROM unnest(\(noted.map(\.app)), \(noted.map(\.day))) AS noted (app, day)
            ON CONFLICT (generation, app, day, shard) DO UPDATE SET revision = known.revision + 1
            """
    }
}
