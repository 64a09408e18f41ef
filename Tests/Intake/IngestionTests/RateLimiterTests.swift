import Accounts
import ServiceRuntime
import Testing

@testable import Ingestion

@Suite("The rate limit")
struct RateLimiterTests {
    private let limiter = RateLimiter()
    private let limit = RateLimit(eventsPerSecond: 10, burst: 20)
    private let start = Deadline.now

    private func after(_ seconds: Double) -> Deadline {
        Deadline(nanoseconds: start.nanoseconds + Int64(seconds * 1e9))
    }

    @Test("who comes while anything is left may overdraw, and all wait until that is paid back")
    func debt() throws {
        #expect(limiter.wait(of: 1, under: limit, at: start) == nil)
        limiter.take(45, of: 1, under: limit, at: start)
        #expect(try #require(limiter.wait(of: 1, under: limit, at: start)) == 2.6)
        #expect(limiter.wait(of: 1, under: limit, at: after(2.5)) != nil)
        #expect(limiter.wait(of: 1, under: limit, at: after(2.6)) == nil)
        #expect(limiter.wait(of: 2, under: limit, at: start) == nil)
        #expect(limiter.wait(of: 1, under: nil, at: start) == nil)
    }

    @Test("who overdrew by himself goes on, but not when others of the app have used up the rest")
    func besides() {
        limiter.take(45, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, besides: 45, at: start) == nil)
        limiter.take(20, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, besides: 45, at: start) != nil)
    }

    @Test("what is given back is there again, and never more than the burst")
    func givenBack() {
        limiter.take(25, of: 1, under: limit, at: start)
        limiter.take(-25, of: 1, under: limit, at: start)
        limiter.take(-25, of: 1, under: limit, at: start)
        limiter.take(20, of: 1, under: limit, at: start)
        #expect(limiter.wait(of: 1, under: limit, at: start) != nil)
    }

    @Test(
        "bytes count by each 4 KiB that is begun", arguments: [(0, 1), (1, 1), (4096, 1), (4097, 2), (8 << 20, 2048)])
    func bytes(_ bytes: Int, _ tokens: Int) {
        #expect(RateLimiter.tokens(forBytes: bytes) == tokens)
    }

    @Test("a wait without end is an hour", arguments: [1e300, .infinity, .nan])
    func endless(_ seconds: Double) {
        let headers = Problem(rateLimitedFor: seconds).headers
        #expect(headers.count == 1 && headers[0] == ("Retry-After", "3600"))
    }
}
