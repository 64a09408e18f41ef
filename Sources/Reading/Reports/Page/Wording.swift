internal import Glibc
internal import ServiceRuntime
package import Values

/// Numbers, times and days as people read them.
package enum Wording {
    /// `12,345`
    package static func count(_ number: Int64) -> String {
        var groups: [String] = []
        var rest = number.magnitude
        repeat {
            groups.append(String(rest % 1000, digits: rest < 1000 ? 1 : 3))
            rest /= 1000
        } while rest > 0
        return (number < 0 ? "−" : "") + groups.reversed().joined(separator: ",")
    }

    /// `1 push`, `12,345 pushes`
    package static func count(_ number: Int64, _ one: String, _ many: String) -> String {
        "\(count(number)) \(number == 1 ? one : many)"
    }

    /// `23.4 %`; a share that would round to zero is `< 0.1 %`; nil is `–`.
    package static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        let percent = share * 100
        if percent == 0 { return "0 %" }
        if abs(percent) < 0.05 { return percent > 0 ? "< 0.1 %" : "> −0.1 %" }
        return "\(fixed(percent, 1)) %"
    }

    /// `10.2 % to 12.4 %`; nil is `–`.
    package static func interval(_ interval: ClosedRange<Double>?) -> String {
        interval.map { "\(percent($0.lowerBound)) to \(percent($0.upperBound))" } ?? "–"
    }

    /// `10.2–12.4 %`, for tables; nil is `–`.
    static func range(_ interval: ClosedRange<Double>?) -> String {
        interval.map { "\(fixed($0.lowerBound * 100, 1))–\(fixed($0.upperBound * 100, 1)) %" } ?? "–"
    }

    /// `+0.4 points to +4.2 points`, of a difference between two shares.
    package static func interval(points interval: ClosedRange<Double>) -> String {
        "\(points(from: 0, to: interval.lowerBound)) to \(points(from: 0, to: interval.upperBound))"
    }

    /// `< 0.3 %`
    package static func lessThan(_ share: Double) -> String {
        let percent = percent(share)
        return percent.hasPrefix("<") ? percent : "< \(percent)"
    }

    package static func percent(_ rate: Rate) -> String { percent(rate.value) }

    /// What stands below figures of which one is over 100 %.
    package static let beyondWhole =
        "A rate over 100 %: some of the events that it is a share of were lost, or nobody told of them."

    /// `+3.1 %` of `base`; nil if there is nothing to compare with.
    package static func change(from base: Int64, to now: Int64) -> String? {
        guard base > 0 else { return nil }
        let change = (Double(now) - Double(base)) / Double(base) * 100
        return abs(change) < 0.05 ? "±0 %" : "\(change > 0 ? "+" : "")\(fixed(change, 1)) %"
    }

    /// `+0.5 points`, between two shares.
    package static func points(from base: Double, to now: Double) -> String {
        let points = points(base, now)
        return points == 0 ? "±0 points" : "\(points > 0 ? "+" : "")\(fixed(points, 1)) points"
    }

    /// `0.5 points higher`, `no difference`
    package static func difference(from base: Double, to now: Double) -> String {
        let points = points(base, now)
        return points == 0 ? "no difference" : "\(fixed(abs(points), 1)) points \(points > 0 ? "higher" : "lower")"
    }

    /// `rose 0.5 points`, `did not change`
    package static func movement(from base: Double, to now: Double) -> String {
        let points = points(base, now)
        return points == 0 ? "did not change" : "\(points > 0 ? "rose" : "fell") \(fixed(abs(points), 1)) points"
    }

    /// Between the two shares as they are printed, so that readers can check it.
    private static func points(_ base: Double, _ now: Double) -> Double {
        ((now * 1000).rounded() - (base * 1000).rounded()) / 10
    }

    /// `312 bytes`, `1.2 MB`
    package static func bytes(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return count(bytes, "byte", "bytes") }
        var (size, unit) = (Double(bytes) / 1000, 0)
        let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
        while size >= 999.95, unit < units.count - 1 { (size, unit) = (size / 1000, unit + 1) }
        return "\(fixed(size, 1)) \(units[unit])"
    }

    /// `4.2 s`, `3 min 20 s`, `2 h 5 min`, `3 days`
    package static func duration(seconds: Double?) -> String {
        guard let seconds else { return "–" }
        if seconds < 59.95 { return "\(fixed(seconds, 1)) s" }
        let whole = Int64(saturating: seconds.rounded())
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        if whole < 172_800 { return "\(whole / 3600) h \(whole % 3600 / 60) min" }
        return "\(whole / 86_400) days"
    }

    /// `5 hours`, `3 days`
    package static func hours(_ hours: Int) -> String {
        hours < 48 ? count(Int64(hours), "hour", "hours") : "\(hours / 24) days"
    }

    /// `p = .031`, `p < .001`
    package static func probability(_ p: Double) -> String {
        p < 0.001 ? "p < .001" : "p = \(String(fixed(min(p, 0.999), 3).dropFirst()))"
    }

    /// `Friday 20 November 2026`
    package static func long(_ day: CivilDate) -> String { "\(short(day)) \(day.year)" }

    /// `Friday 20 November`
    package static func short(_ day: CivilDate) -> String { "\(weekday(day)) \(day.day) \(months[day.month - 1])" }

    /// `Fri 20 Nov`
    package static func brief(_ day: CivilDate) -> String {
        "\(weekday(day).prefix(3)) \(day.day) \(months[day.month - 1].prefix(3))"
    }

    package static func weekday(_ day: CivilDate) -> String {
        let place = (day.daysSince1970 + 3) % 7  // 1970-01-01 was a Thursday
        return weekdays[place < 0 ? place + 7 : place]
    }

    /// A name from outside. The events of many deliveries have none.
    package static func name(_ name: String, else none: String = "(none)") -> String { name.isEmpty ? none : name }

    package static func fixed(_ number: Double, _ decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        let scaled = Int64(saturating: (abs(number) * scale).rounded())
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let sign = number < 0 && scaled > 0 ? "−" : ""
        guard decimals > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole).\(String(fraction, digits: decimals))"
    }

    private static let weekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
}
