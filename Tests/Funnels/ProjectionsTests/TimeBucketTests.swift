import FunnelOracle
import HistoryFold
import Testing

@testable import Projections

@Suite("Buckets of times")
struct TimeBucketTests {
    @Test("hold a single time each below 16 microseconds")
    func exact() {
        for time in 0..<16 as Range<Int64> {
            #expect(TimeBuckets.bucket(ofMicroseconds: time) == Int16(time))
            #expect(TimeBucket(number: time).middle == time)
        }
    }

    @Test("follow each other without gap or overlap, for times of any length")
    func consecutive() {
        for number in 0..<488 as Range<Int64> {
            let bucket = TimeBucket(number: number)
            let last = bucket.start + (bucket.width - 1)
            #expect(TimeBuckets.bucket(ofMicroseconds: bucket.start) == Int16(number))
            #expect(TimeBuckets.bucket(ofMicroseconds: last) == Int16(number))
            if number < 487 {
                #expect(last + 1 == TimeBucket(number: number + 1).start)
            } else {
                #expect(last == .max)
            }
        }
    }

    @Test("are told by their middle, off by a sixteenth at most")
    func close() {
        var random = SeededNumbers(seed: 1)
        let far = counterexamples(among: 0..<20_000) { _ in
            let time = Int64.random(in: 0...(1 << Int64.random(in: 0...55, using: &random)), using: &random)
            let bucket = TimeBucket(number: Int64(TimeBuckets.bucket(ofMicroseconds: time)))
            return bucket.start <= time && time - bucket.start < bucket.width
                && Double(abs(bucket.middle - time)) <= Double(time) / 16
        }
        #expect(far == [])
    }

    @Test("never fall as times rise")
    func monotone() {
        var random = SeededNumbers(seed: 2)
        let fallen = counterexamples(among: 0..<20_000) { _ in
            let time = Int64.random(in: 0...(1 << Int64.random(in: 0...55, using: &random)), using: &random)
            let later = time + Int64.random(in: 0...(time / 3 + 2), using: &random)
            return TimeBuckets.bucket(ofMicroseconds: time) <= TimeBuckets.bucket(ofMicroseconds: later)
        }
        #expect(fallen == [])
    }
}
