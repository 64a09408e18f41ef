import Telemetry
import Testing
import Values

@Suite("The time rule")
struct TimeRuleTests {
    private static let noon = time("2026-11-20T12:00:00Z")
    private let minute: Int64 = 60_000_000

    private static func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(microseconds: 0) }

    private func occurrence(
        at: Timestamp, sentAt: Timestamp?, receivedAt: Timestamp = noon
    ) -> (occurredAt: Timestamp, timeSource: TimeSource)? {
        TimeRule.occurrence(at: at, sentAt: sentAt, receivedAt: receivedAt)
    }

    @Test("without sent_at, at is taken as it is, however old")
    func withoutSentAt() throws {
        for at in [TimeRuleTests.noon, TimeRuleTests.time("2000-01-01T00:00:00Z"), TimeRuleTests.noon + 5 * minute] {
            let result = try #require(occurrence(at: at, sentAt: nil))
            #expect(result == (at, .device))
        }
    }

    @Test("a skew of five minutes either way corrects nothing, a microsecond more does")
    func skew() throws {
        let noon = TimeRuleTests.noon
        let at = noon + -3600 * 1_000_000
        for skew in [5 * minute, -5 * minute, 0] {
            #expect(try #require(occurrence(at: at, sentAt: noon + -skew)) == (at, .device))
        }
        for skew in [5 * minute + 1, -5 * minute - 1, -400 * 24 * 60 * minute] {
            #expect(try #require(occurrence(at: at, sentAt: noon + -skew)) == (at + skew, .corrected))
        }
    }

    @Test("more than five minutes ahead becomes the receive time, also after a correction")
    func clamp() throws {
        let noon = TimeRuleTests.noon
        #expect(try #require(occurrence(at: noon + 5 * minute, sentAt: noon)) == (noon + 5 * minute, .device))
        #expect(try #require(occurrence(at: noon + (5 * minute + 1), sentAt: noon)) == (noon, .clamped))
        #expect(try #require(occurrence(at: noon + (5 * minute + 1), sentAt: nil)) == (noon, .clamped))
        let slow = noon + -60 * minute
        #expect(try #require(occurrence(at: slow + 6 * minute, sentAt: slow)) == (noon, .clamped))
    }

    @Test("a time that the correction carries out of the years 2000 to 9999 is none")
    func outside() {
        let noon = TimeRuleTests.noon
        #expect(
            occurrence(
                at: TimeRuleTests.time("2001-01-01T00:00:00Z"), sentAt: TimeRuleTests.time("2080-01-01T00:00:00Z"))
                == nil)
        #expect(
            occurrence(
                at: TimeRuleTests.time("9999-12-31T00:00:00Z"), sentAt: TimeRuleTests.time("2020-01-01T00:00:00Z"))
                == nil)
        #expect(occurrence(at: noon, sentAt: Timestamp(microseconds: .min)) == nil)
        #expect(occurrence(at: Timestamp(microseconds: .max), sentAt: noon + -60 * minute) == nil)
    }
}
