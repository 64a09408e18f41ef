internal import Glibc
internal import Telemetry

/// Which buttons are called dead, over the 28 days up to a report's. Two sorts are:
///
/// - A button that **fell silent**: tapped before, not on any delivery of the last seven days. On the days since its last
///   tap its category was delivered at least 100 times, and so often that at the rate at which it was tapped until then
///   there would have been a tap with 99 in 100 sure: one that was always rare is not dead. It is not meant when it was
///   plainly taken away: when another button has been tapped at its place since, or the category has fewer places now.
/// - A place that was **never tapped**, known by the taps beside it, which tell how many buttons there are. The taps of the
///   last seven days agree in their number, every button of the category that was tapped has told its place, and since the
///   first tap that told of so many the category was delivered at least 100 times: a button added yesterday is not dead.
///
/// Days are those of the deliveries. What iOS hides stays hidden: on iPhone buttons show only after press and hold, so a
/// dead button may be one that nobody saw.
struct DeadActionRule: Sendable {
    static let leastDelivered: Int64 = 100
    static let days = 28
    /// No tap for so many days, the report's among them.
    static let silence = 7
    /// iOS shows no more buttons; what claims to be beyond is a client's error.
    static let mostButtons: Int64 = 10

    /// Deliveries of a category on a day.
    struct Delivered: Sendable {
        var category: String
        var day: CivilDate
        var deliveries: Int64
    }

    /// Deliveries of a category and day on which a button was tapped.
    struct Tapped: Sendable {
        var category: String
        var id: String
        var day: CivilDate
        var deliveries: Int64
    }

    /// What taps say about a button: its place of so many, and from when to when they said it.
    struct Place: Sendable {
        var category: String
        var id: String
        var index: Int64?
        var count: Int64?
        var days: ClosedRange<CivilDate>
    }

    private let day: CivilDate
    private let delivered: [ExactName: [Delivered]]
    private let tapped: [ExactName: [Tapped]]
    private let places: [ExactName: [Place]]

    /// The 28 days up to `day`, and no others.
    init(day: CivilDate, delivered: [Delivered], tapped: [Tapped], places: [Place]) {
        self.day = day
        self.delivered = Dictionary(grouping: delivered) { ExactName($0.category) }
        self.tapped = Dictionary(grouping: tapped) { ExactName($0.category) }
        self.places = Dictionary(grouping: places) { ExactName($0.category) }
    }

    /// The dead ones, most delivered first.
    func find() -> [DeadAction] {
        let found = tapped.keys.sorted().flatMap { silent(in: $0) + neverTapped(in: $0) }
        // `sorted` keeps the order of what is equal.
        return found.sorted { $0.delivered > $1.delivered }
    }

    private var recently: CivilDate { day.advanced(by: 1 - Self.silence) }

    private func silent(in category: ExactName) -> [DeadAction] {
        let buttons = Dictionary(grouping: tapped[category] ?? []) { ExactName($0.id) }
        return buttons.keys.sorted().compactMap { id in
            let taps = buttons[id] ?? []
            guard let last = taps.map(\.day).max(), last < recently else { return nil }
            let since = deliveries(of: category) { $0 > last }
            let until = deliveries(of: category) { $0 <= last }
            let rate = Double(taps.reduce(0) { $0 + $1.deliveries }) / Double(max(until, 1))
            guard pow(max(0, 1 - rate), Double(since)) <= TwoProportions.significance,
                !wasTakenAway(id, of: category, after: last)
            else { return nil }
            let days = day.daysSince1970 - last.daysSince1970
            return dead(.silentSince(id: id.text, days: days), in: category, delivered: since)
        }
    }

    private func wasTakenAway(_ id: ExactName, of category: ExactName, after last: CivilDate) -> Bool {
        let places = self.places[category] ?? []
        let own = Set(places.filter { ExactName($0.id) == id }.compactMap(\.index))
        if places.contains(where: { place in
            ExactName(place.id) != id && place.days.upperBound > last && place.index.map(own.contains) == true
        }) {
            return true
        }
        guard let first = own.min(), let count = recentCounts(of: category).max() else { return false }
        return first >= count
    }

    private func neverTapped(in category: ExactName) -> [DeadAction] {
        let places = self.places[category] ?? []
        let counts = recentCounts(of: category)
        guard counts.count == 1, let count = counts.first,
            let since = places.filter({ $0.count == count }).map(\.days.lowerBound).min()
        else { return [] }
        let placed = Set(places.filter { $0.index != nil }.map { ExactName($0.id) })
        guard (tapped[category] ?? []).allSatisfy({ placed.contains(ExactName($0.id)) }) else { return [] }
        let hit = Set(places.compactMap(\.index))
        let delivered = deliveries(of: category) { $0 >= since }
        return (0..<count).filter { !hit.contains($0) }.compactMap {
            dead(.neverTapped(index: Int($0), count: Int(count)), in: category, delivered: delivered)
        }
    }

    /// How many buttons the category has, by the taps of the last seven days.
    private func recentCounts(of category: ExactName) -> Set<Int64> {
        Set((places[category] ?? []).filter { $0.days.upperBound >= recently }.compactMap(\.count))
            .filter { (1...Self.mostButtons).contains($0) }
    }

    private func deliveries(of category: ExactName, on isMeant: (CivilDate) -> Bool) -> Int64 {
        (delivered[category] ?? []).reduce(0) { $0 + (isMeant($1.day) ? $1.deliveries : 0) }
    }

    private func dead(_ what: DeadAction.What, in category: ExactName, delivered: Int64) -> DeadAction? {
        guard delivered >= Self.leastDelivered, let bound = TwoProportions.bound(ofNoneIn: delivered) else {
            return nil
        }
        return DeadAction(category: category.text, what: what, delivered: delivered, bound: bound)
    }
}
