internal import struct Foundation.TimeZone

/// Time zones whose rules have long stood still, so that all time-zone data agree about them, and midnights and clock
/// changes in them.
enum ReportingZone {
    static let all = [
        "UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "America/Santiago", "Asia/Kolkata",
        "Asia/Kathmandu", "Asia/Bangkok", "Australia/Lord_Howe", "Pacific/Kiritimati", "Pacific/Pago_Pago",
    ]

    /// Moments around which days are hard to tell, in seconds since 1970, and whose.
    static let nights: [(zone: String, seconds: Int64)] = [
        ("Europe/Berlin", 1_743_296_400),  // 2025-03-30T01:00Z: springs forward
        ("Europe/Berlin", 1_743_289_200),  // 2025-03-29T23:00Z: the midnight before it, in winter time
        ("Europe/Berlin", 1_761_440_400),  // 2025-10-26T01:00Z: falls back
        ("Europe/Berlin", 1_761_429_600),  // 2025-10-25T22:00Z: the midnight before it, still in summer time
        ("Europe/Berlin", 1_761_519_600),  // 2025-10-26T23:00Z: the midnight after it, in winter time
        ("America/New_York", 1_741_503_600),  // 2025-03-09T07:00Z: springs forward
        ("America/New_York", 1_762_063_200),  // 2025-11-02T06:00Z: falls back
        ("America/Santiago", 1_743_908_400),  // 2025-04-06T03:00Z: midnight goes back to 23:00 of the day before
        ("America/Santiago", 1_757_217_600),  // 2025-09-07T04:00Z: midnight goes forward to 01:00
        ("Australia/Lord_Howe", 1_743_865_200),  // 2025-04-05T15:00Z: goes back by half an hour
        ("Australia/Lord_Howe", 1_759_591_800),  // 2025-10-04T15:30Z: goes forward by half an hour
        ("Asia/Kolkata", 1_767_205_800),  // 2025-12-31T18:30Z: New Year
        ("Asia/Kathmandu", 1_767_204_900),  // 2025-12-31T18:15Z: New Year
        ("America/St_Johns", 1_767_238_200),  // 2026-01-01T03:30Z: New Year
        ("UTC", 1_767_225_600),  // 2026-01-01T00:00Z: New Year
        ("UTC", 1_709_164_800),  // 2024-02-29T00:00Z: a leap day begins
    ]

    static func timeZone(named name: String) -> TimeZone {
        guard let zone = TimeZone(identifier: name) else { fatalError("the time-zone data know no \(name)") }
        return zone
    }
}
