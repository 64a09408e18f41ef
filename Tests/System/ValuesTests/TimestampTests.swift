import Testing
import Values

@Suite("Times")
struct TimeTests {
    @Test(
        "RFC 3339 with offset is read to the microsecond",
        arguments: [
            ("2026-11-20T09:30:12.412Z", "2026-11-20T09:30:12.412000Z"),
            ("2026-11-20t09:30:12z", "2026-11-20T09:30:12.000000Z"),
            ("2026-11-20 09:30:12Z", "2026-11-20T09:30:12.000000Z"),
            ("2026-11-20T09:30:12+07:00", "2026-11-20T02:30:12.000000Z"),
            ("2026-11-20T09:30:12-03:30", "2026-11-20T13:00:12.000000Z"),
            ("2026-11-20T09:30:12-00:00", "2026-11-20T09:30:12.000000Z"),
            ("2026-11-20T09:30:12.1Z", "2026-11-20T09:30:12.100000Z"),
            ("2026-11-20T09:30:12.1234569999999999999999Z", "2026-11-20T09:30:12.123456Z"),
            ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00.000000Z"),
            ("2026-12-31T23:59:60.5+00:00", "2027-01-01T00:00:00.500000Z"),
            ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"),
            ("2000-02-29T23:59:59.999999Z", "2000-02-29T23:59:59.999999Z"),
            ("1999-12-31T23:30:00-01:00", "2000-01-01T00:30:00.000000Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500000Z"),
        ])
    func readable(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test("whatever two times are, their distance and sum are numbers")
    func farApart() {
        let (least, most) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
        #expect(most - least == .max && least - most == .min && most - most == 0)
        #expect((most + 1, least + -1) == (most, least) && (most + -1).microseconds == .max - 1)
    }

    @Test(
        "anything else is not read",
        arguments: [
            "", "2026-11-20", "2026-11-20T09:30:12", "2026-11-20T09:30Z", "2026-11-20T09:30:12.Z",
            "2026-11-20T09:30:12,5Z",
            "2026-11-20T24:00:00Z", "2026-11-20T09:60:12Z", "2026-11-20T09:30:61Z", "2026-02-29T09:30:12Z",
            "2026-13-01T09:30:12Z", "2026-00-01T09:30:12Z", "2026-11-00T09:30:12Z", "2026-11-31T09:30:12Z",
            "2026-11-20T09:30:12+7:00", "2026-11-20T09:30:12+0700", "2026-11-20T09:30:12+07",
            "2026-11-20T09:30:12+24:00",
            "2026-11-20T09:30:12+07:60", "2026-11-20T09:30:12Zx", " 2026-11-20T09:30:12Z", "2026-11-20T09:30:12Z ",
            "20261120T093012Z", "2026-11-20_09:30:12Z", "+2026-11-20T09:30:12Z", "12026-11-20T09:30:12Z",
            "2026-11-20T09:30:12.5", "２026-11-20T09:30:12Z", "1763631012412",
        ])
    func unreadable(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("epoch milliseconds count in the years 2000 to 9999, with their fraction to the microsecond")
    func epochMilliseconds() {
        #expect(Timestamp(epochMilliseconds: 1_732_181_410_001)?.description == "2024-11-21T09:30:10.001000Z")
        #expect(Timestamp(fractionalEpochMilliseconds: 1_732_181_410_001.123)?.microseconds == 1_732_181_410_001_123)
        #expect(Timestamp(epochMilliseconds: 946_684_800_000)?.description == "2000-01-01T00:00:00.000000Z")
        #expect(Timestamp(epochMilliseconds: 253_402_300_799_999)?.description == "9999-12-31T23:59:59.999000Z")
        for milliseconds in [Int64.min, -1, 0, 946_684_799_999, 253_402_300_800_000, .max] {
            #expect(Timestamp(epochMilliseconds: milliseconds) == nil, "\(milliseconds)")
            #expect(Timestamp(fractionalEpochMilliseconds: Double(milliseconds)) == nil, "\(milliseconds)")
        }
        #expect(Timestamp(fractionalEpochMilliseconds: 1e300) == nil)
    }

    @Test("what a time shows reads back as the same time")
    func roundTrip() {
        for _ in 0..<10_000 {
            let time = Timestamp(microseconds: .random(in: -62_135_596_800_000_000..<253_402_300_800_000_000))
            #expect(Timestamp(rfc3339: time.description) == time)
        }
    }
}
