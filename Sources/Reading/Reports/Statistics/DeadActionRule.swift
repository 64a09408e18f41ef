internal import Glibc
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Decides which buttons are dead, from the 28 days up to the report's. A tap counts on each of them, and a delivery
/// without one only on a day that has settled: its tap may still arrive. There are two kinds:
///
/// - A button that **fell silent**: it was tapped before, but not on any delivery of the last seven days. Since its
///   last tap its category was delivered at least 100 times, and so often that at its earlier tap rate, a tap would
///   have occurred with 99 % probability: a button that was always tapped rarely is not dead. A button that was
///   obviously removed is not dead either: another button has been tapped at its place since, or the category has fewer
///   places now.
/// - A place that was **never tapped**. Taps on its neighbours show that it exists, since each tap says how many
///   buttons there are. The taps of the last seven days must agree on that number, every tapped button of the category
///   must have a known place, and since the first tap that showed this number at least seven days must have settled,
///   with at least 100 deliveries of the category: a button that was added yesterday is not dead. And they must be so
///   many that at the rate at which its neighbours are tapped, a tap would have occurred with 99 % probability: where
///   nobody taps any, one more says nothing.
///
/// Days are those of the deliveries. An iPhone shows buttons only after press and hold, so a dead button may be one
/// that nobody saw.
struct DeadActionRule: Sendable {
    static let leastDelivered: Int64 = 100
    /// Of those who saw a registered button, as its verdict `untapped` needs.
    static let leastSeen: Int64 = 299
    static let days = 28
    /// The settled days without a tap.
    static let silence = 7
    /// iOS shows no more buttons. A larger number is a client's mistake.
    static let mostButtons: Int64 = 10

    /// Deliveries of a category on a day.
    struct Delivered: Sendable {
        var category: String
        var day: CivilDate
        var deliveries: Int64
    }

    /// Deliveries of a category on a day on which a button was tapped.
    struct Tapped: Sendable {
        var category: String
        var id: String
        var day: CivilDate
        var deliveries: Int64
    }

    /// What taps say about a button: its place, the number of buttons, and the first and last day on which they said
    /// so.
    struct Place: Sendable {
        var category: String
        var id: String
        var index: Int64?
        var count: Int64?
        var days: ClosedRange<CivilDate>
    }

    private let day: CivilDate
    private let lastSettled: CivilDate
    private let delivered: [ExactName: [Delivered]]
    private let tapped: [ExactName: [Tapped]]
    private let places: [ExactName: [Place]]

    /// Takes the 28 days up to `day`, and no others.
    init(
        day: CivilDate, lastSettled: CivilDate, delivered: [Delivered], tapped: [Tapped], places: [Place]
    ) {
        (self.day, self.lastSettled) = (day, lastSettled)
        self.delivered = Dictionary(grouping: delivered) { ExactName($0.category) }
        self.tapped = Dictionary(grouping: tapped) { ExactName($0.category) }
        self.places = Dictionary(grouping: places) { ExactName($0.category) }
    }

    /// The dead buttons, the most delivered first.
    func find() -> [DeadAction] {
        let found = tapped.keys.sorted().flatMap { silent(in: $0) + neverTapped(in: $0) }
        // `sorted` keeps the order of equal elements.
        return found.sorted { $0.delivered > $1.delivered }
    }

    private var recently: CivilDate { Self.lastBeginning(upTo: lastSettled) }

    /// A button that began after this day is too young to be judged.
    static func lastBeginning(upTo lastSettled: CivilDate) -> CivilDate {
        lastSettled.advanced(by: 1 - silence)
    }

    /// Whether a button that so many did not tap cannot be like its neighbours: then one of them would have tapped it
    /// with 99 % probability. Without a neighbour that is tapped, nothing is known.
    static func isProof(_ untapped: Int64, beside neighbours: [Rate]) -> Bool {
        let rates = neighbours.compactMap(\.value)
        guard !rates.isEmpty else { return false }
        return isProof(untapped, at: rates.reduce(0, +) / Double(rates.count))
    }

    private static func isProof(_ untapped: Int64, at rate: Double) -> Bool {
        pow(min(max(0, 1 - rate), 1), Double(untapped)) <= TwoProportions.significance
    }

    private func silent(in category: ExactName) -> [DeadAction] {
        let buttons = Dictionary(grouping: tapped[category] ?? []) { ExactName($0.id) }
        return buttons.keys.sorted().compactMap { id in
            let taps = buttons[id] ?? []
            guard let last = taps.map(\.day).max(), last < recently else { return nil }
            let since = deliveries(of: category) { $0 > last }
            let until = deliveries(of: category) { $0 <= last }
            let rate = Double(taps.reduce(Int64(0)) { $0.addingSaturated($1.deliveries) }) / Double(max(until, 1))
            guard Self.isProof(since, at: rate), !wasTakenAway(id, of: category, after: last)
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
            let since = places.filter({ $0.count == count }).map(\.days.lowerBound).min(), since <= recently
        else { return [] }
        let placed = Set(places.filter { $0.index != nil }.map { ExactName($0.id) })
        guard (tapped[category] ?? []).allSatisfy({ placed.contains(ExactName($0.id)) }) else { return [] }
        let hit = Set(places.compactMap(\.index))
        let delivered = deliveries(of: category) { $0 >= since }
        let all = deliveries(of: category) { _ in true }
        let neighbours = Dictionary(grouping: tapped[category] ?? []) { ExactName($0.id) }.values.map { taps in
            Rate(taps.reduce(Int64(0)) { $0.addingSaturated($1.deliveries) }, of: all)
        }
        guard Self.isProof(delivered, beside: neighbours) else { return [] }
        return (0..<count).filter { !hit.contains($0) }.compactMap {
            dead(.neverTapped(index: Int($0), count: Int(count)), in: category, delivered: delivered)
        }
    }

    /// The number of buttons in the category, according to the taps of the last seven days.
    private func recentCounts(of category: ExactName) -> Set<Int64> {
        Set((places[category] ?? []).filter { $0.days.upperBound >= recently }.compactMap(\.count))
            .filter { (1...Self.mostButtons).contains($0) }
    }

    private func deliveries(of category: ExactName, on isMeant: (CivilDate) -> Bool) -> Int64 {
        (delivered[category] ?? []).reduce(Int64(0)) {
            $1.day <= lastSettled && isMeant($1.day) ? $0.addingSaturated($1.deliveries) : $0
        }
    }

    private func dead(_ what: DeadAction.What, in category: ExactName, delivered: Int64) -> DeadAction? {
        guard delivered >= Self.leastDelivered, let bound = TwoProportions.bound(ofNoneIn: delivered) else {
            return nil
        }
        return DeadAction(category: category.text, what: what, delivered: delivered, bound: bound)
    }
}
