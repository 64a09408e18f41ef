/// How the events of a day come in, hour by hour after its end, told from days of which some still lack their last hours.
///
/// The share that is in `h` hours after the end is F(h) = Π over later hours l of N(≤ l−1) / N(≤ l), each factor from
/// those days alone that were watched for l hours (the chain ladder; in survival analysis the reversed hazard). Simply
/// adding all days up would count what has not had the time to come as if it never came.
struct ArrivalCurve: Sendable {
    /// What comes later than so many hours after its day is not waited for.
    static let horizon = 672
    /// With fewer there is no telling.
    static let leastEvents: Int64 = 1_000
    static let leastDays = 7

    /// The events it is told from.
    private(set) var events: Int64 = 0
    /// The days with any.
    private(set) var days = 0

    // By hour l from 1: the events that were in after l − 1 hours and after l, of the days watched for l.
    private var before = [Int64](repeating: 0, count: horizon + 1)
    private var within = [Int64](repeating: 0, count: horizon + 1)
    /// The hours for which the longest watched day was.
    private var longest = 0

    init() {}

    /// Adds a day that was watched for so many whole hours after its end, and the number of its events by the hours from
    /// its end after which they were in: 0 for all that came before the end, 1 for the first hour. Later ones do not count.
    mutating func addDay(watched hours: Int, arrivals: [Int: Int64]) {
        guard hours >= 0 else { return }
        let hours = min(hours, Self.horizon)
        var sum = arrivals[0] ?? 0
        for hour in 0..<hours {
            before[hour + 1] += sum
            sum += arrivals[hour + 1] ?? 0
            within[hour + 1] += sum
        }
        guard sum > 0 else { return }
        events += sum
        days += 1
        longest = max(longest, hours)
    }

    /// Whether events and days are enough to say anything.
    var isTold: Bool { events >= Self.leastEvents && days >= Self.leastDays }

    /// The share of a day's events that is in so many hours after its end; nil while the day lasts and when there are too
    /// few to say.
    func share(after hours: Int) -> Double? {
        guard isTold, hours >= 0 else { return nil }
        return hours >= longest ? 1 : shares[hours]
    }

    /// The hours after which that share of a day's events is in; nil when there are too few to say.
    func hours(to share: Double) -> Int? {
        guard isTold else { return nil }
        return shares.firstIndex { $0 >= share }
    }

    /// From the end of the day on, hour by hour, up to 1.
    private var shares: [Double] {
        var shares = [Double](repeating: 1, count: longest + 1)
        for hour in stride(from: longest, to: 0, by: -1) {
            let factor = within[hour] == 0 ? 1 : Double(before[hour]) / Double(within[hour])
            shares[hour - 1] = shares[hour] * factor
        }
        return shares
    }
}
