internal import ServiceRuntime

/// How the events of a day arrive, hour by hour after its end, estimated from days of which some still lack their last
/// hours.
///
/// The share that has arrived `h` hours after the end is F(h) = Π over later hours l of N(≤ l−1) / N(≤ l). Each factor
/// uses only the days that were observed for l hours (the chain ladder; in survival analysis the reversed hazard).
/// Simply adding up all days would count events that have not had the time to arrive as if they never came.
struct ArrivalCurve: Sendable {
    /// Events that arrive more than so many hours after their day are not waited for.
    static let horizon = 672
    /// Fewer do not allow an estimate.
    static let leastEvents: Int64 = 1_000
    static let leastDays = 7

    /// The number of events in the estimate.
    private(set) var events: Int64 = 0
    /// The number of days that have any.
    private(set) var days = 0

    // By hour l from 1, of the days observed for l hours: the events that had arrived after l − 1 hours and after l.
    private var before = [Int64](repeating: 0, count: horizon + 1)
    private var within = [Int64](repeating: 0, count: horizon + 1)
    /// The hours for which the longest observed day was.
    private var longest = 0

    init() {}

    /// Adds a day that was observed for so many whole hours after its end. `arrivals` has the number of its events by
    /// hour of arrival: 0 for all that arrived before the end of the day, 1 for the first hour after it. Later ones are
    /// ignored.
    mutating func addDay(watched hours: Int, arrivals: [Int: Int64]) {
        guard hours >= 0 else { return }
        let hours = min(hours, Self.horizon)
        var sum = max(0, arrivals[0] ?? 0)
        for hour in 0..<hours {
            before[hour + 1] = before[hour + 1].addingSaturated(sum)
            sum = sum.addingSaturated(max(0, arrivals[hour + 1] ?? 0))
            within[hour + 1] = within[hour + 1].addingSaturated(sum)
        }
        guard sum > 0 else { return }
        events = events.addingSaturated(sum)
        days += 1
        longest = max(longest, hours)
    }

    /// Whether there are enough events and days for an estimate.
    var isTold: Bool { events >= Self.leastEvents && days >= Self.leastDays }

    /// The share of a day's events that has arrived so many hours after its end; nil before the day is over, and if
    /// there are too few events.
    func share(after hours: Int) -> Double? {
        guard isTold, hours >= 0 else { return nil }
        return hours >= longest ? 1 : shares[hours]
    }

    /// The hours after which this share of a day's events has arrived; nil if there are too few events.
    func hours(to share: Double) -> Int? {
        guard isTold else { return nil }
        return shares.firstIndex { $0 >= share }
    }

    /// Hour by hour from the end of the day, up to 1.
    private var shares: [Double] {
        var shares = [Double](repeating: 1, count: longest + 1)
        for hour in stride(from: longest, to: 0, by: -1) {
            let factor = within[hour] == 0 ? 1 : Double(before[hour]) / Double(within[hour])
            shares[hour - 1] = shares[hour] * factor
        }
        return shares
    }
}
