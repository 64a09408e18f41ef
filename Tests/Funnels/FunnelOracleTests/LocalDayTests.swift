import FunnelOracle
import Testing
import Values

import struct Foundation.Date
import struct Foundation.TimeZone

@Suite("Days in time zones")
struct LocalDayTests {
    @Test(
        "the day is the calendar's in the zone, also in nights on which the clock changes",
        arguments: [
            ("UTC", "2026-03-10T23:59:59.999999Z", "2026-03-10"), ("UTC", "2026-03-11T00:00:00Z", "2026-03-11"),
            // Berlin springs forward at 01:00Z; this day has 23 hours.
            ("Europe/Berlin", "2026-03-28T22:59:59.999999Z", "2026-03-28"),
            ("Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T21:59:59.999999Z", "2026-03-29"),
            ("Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-30"),
            // And falls back at 01:00Z; this one has 25.
            ("Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T22:59:59.999999Z", "2026-10-25"),
            ("Europe/Berlin", "2026-10-25T23:00:00Z", "2026-10-26"),
            // Santiago's clock goes from midnight back to 23:00: the old day goes on.
            ("America/Santiago", "2025-04-06T02:59:59.999999Z", "2025-04-05"),
            ("America/Santiago", "2025-04-06T03:00:00Z", "2025-04-05"),
            ("America/Santiago", "2025-04-06T03:59:59.999999Z", "2025-04-05"),
            ("America/Santiago", "2025-04-06T04:00:00Z", "2025-04-06"),
            // And from midnight forward to 01:00.
            ("America/Santiago", "2025-09-07T03:59:59.999999Z", "2025-09-06"),
            ("America/Santiago", "2025-09-07T04:00:00Z", "2025-09-07"),
            ("Asia/Kolkata", "2026-03-10T18:29:59.999999Z", "2026-03-10"),
            ("Asia/Kolkata", "2026-03-10T18:30:00Z", "2026-03-11"),
            ("Asia/Kathmandu", "2026-03-10T18:15:00Z", "2026-03-11"),
            ("America/St_Johns", "2026-01-01T03:29:59.999999Z", "2025-12-31"),
            ("America/St_Johns", "2026-01-01T03:30:00Z", "2026-01-01"),
            // Lord Howe moves its clock by half an hour: +11:00 in summer, +10:30 in winter.
            ("Australia/Lord_Howe", "2025-04-04T13:00:00Z", "2025-04-05"),
            ("Australia/Lord_Howe", "2025-04-06T13:29:59.999999Z", "2025-04-06"),
            ("Australia/Lord_Howe", "2025-04-06T13:30:00Z", "2025-04-07"),
            ("Pacific/Kiritimati", "2026-03-10T10:00:00Z", "2026-03-11"),
            ("Pacific/Pago_Pago", "2026-03-10T10:59:59.999999Z", "2026-03-09"),
            ("Asia/Bangkok", "2024-02-28T17:00:00Z", "2024-02-29"),
        ])
    func day(zone: String, time: String, day: String) throws {
        let zone = try #require(TimeZone(identifier: zone))
        let time = try #require(Timestamp(rfc3339: time))
        #expect(time.day(in: zone).description == day)
    }

    @Test("each app has its own zone")
    func zones() throws {
        var elsewhere = Example().event(.open, 20_000)
        elsewhere.app = "there"
        let tokyo = try #require(TimeZone(identifier: "Asia/Tokyo"))
        let funnels = Oracle.funnels(of: [Example().event(.open, 20_000), elsewhere]) { app in
            app == "there" ? tokyo : .gmt
        }
        #expect(funnels.categories.map { "\($0.key.app) \($0.key.day)" } == ["shop 2026-03-10", "there 2026-03-11"])
    }
}

extension TimeZone {
    /// Seconds east of Greenwich.
    func offset(at time: Timestamp) -> Int {
        secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.microseconds) / 1_000_000))
    }
}
