package import Values

package import struct Foundation.Date
package import struct Foundation.TimeZone

extension Timestamp {
    /// The calendar's day in a time zone at this moment.
    ///
    /// The zone is asked about the whole second: zones change at whole seconds, and a `Date` of today holds those
    /// exactly, but microseconds only nearly.
    package func day(in timeZone: TimeZone) -> CivilDate {
        let second = flooredQuotient(microseconds, 1_000_000)
        let offset = timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
        return CivilDate(daysSince1970: Int(flooredQuotient(second + Int64(offset), 86_400)))
    }
}

private func flooredQuotient(_ number: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
}
