import Telemetry
import Testing
import Values

@testable import Reports

@Suite("Which part of the log is read")
struct LogSampleTests {
    private func sample(_ deliveries: Int64) -> LogSample {
        LogSample(start: Timestamp(microseconds: 0), end: Timestamp(microseconds: 1), deliveries: deliveries)
    }

    @Test("all of it in one piece, up to half a million deliveries")
    func whole() {
        for deliveries in [0, 1, 500_000] as [Int64] {
            for length in [0, 59_999_999, 60_000_000, 33 * 86_400_000_000] as [Int64] {
                let sample = LogSample(
                    start: Timestamp(microseconds: 0), end: Timestamp(microseconds: length), deliveries: deliveries)
                #expect(sample.step == sample.width && Int64(sample.width) * 60_000_000 > length)
            }
        }
    }

    @Test("above that, one minute in so many, spread over all minutes of the day")
    func minutes() {
        for (deliveries, step) in [
            (500_001, 7), (3_500_000, 7), (3_500_001, 11), (28_000_000, 59), (.max, Int32.max),
        ] as [(Int64, Int32)] {
            #expect(sample(deliveries).width == 1)
            #expect(sample(deliveries).step == step)
        }
        for deliveries in stride(from: 600_000, to: 100_000_000, by: 7_777_777) as StrideTo<Int64> {
            let step = sample(deliveries).step
            #expect(deliveries / Int64(step) <= 500_000)
            // A day has 2⁵ · 3² · 5 minutes.
            #expect([2, 3, 5].allSatisfy { step % $0 != 0 })
        }
    }
}
