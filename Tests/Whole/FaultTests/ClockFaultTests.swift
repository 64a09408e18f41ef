import EmbeddedPostgres
import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("A clock jumps under load", .enabled(if: FakeClock.isInstalled, "faketime is not installed"))
struct ClockFaultTests {
    @Test(
        "that of the service: while it is wrong nothing is taken and no time corrected, and nothing else depends on it")
    func ofService() throws {
        let shop = try Shop()
        let clock = try FakeClock()
        var bellwether = shop.bellwether
        bellwether.runner = clock.runner
        let service = try bellwether.serve()
        let load = shop.load(on: service)
        let phones = PunctualPhones(service, key: shop.app.secret)
        #expect(load.isServed())
        // Within what clocks may differ.
        clock.set(60)
        #expect(load.isServed(50))
        let jumps = [(2 * 3600, "ahead"), (-3 * 86_400, "behind"), (40 * 86_400, "ahead"), (-600, "behind")]
        for (offset, word) in jumps.prefix(FaultLength.isLong ? 4 : 2) {
            // Whoever is in the middle of a request is not cut: deadlines know no time of day.
            let body = Array(Wire.envelope(Wire.event()).utf8)
            let slow = try begin(body, service, shop.app.secret)
            clock.set(offset)
            let isNoticed = try eventually {
                let problem = try service.client().get("/readyz").problem
                return problem?.detail.contains("\(word) ") == true
            }
            #expect(isNoticed, "\(offset)")
            let answer = try service.client().post(Wire.envelope(Wire.event()), key: shop.app.secret)
            #expect(answer.status == 503 && answer.problem?.code == "wrong_clock", "\(answer)")
            #expect(load.isRefused(20))
            slow.send(Array(body.dropFirst(20)))
            #expect(try slow.answer(within: 20).status == 503)
            let late = try begin(body, service, shop.app.secret)
            clock.set(0)
            #expect(load.isServed(1), "\(offset) \(service.log.suffix(2000))")
            // It was received by the wrong clock.
            late.send(Array(body.dropFirst(20)))
            let refusal = try late.answer(within: 20)
            #expect(refusal.status == 503 && refusal.problem?.code == "wrong_clock", "\(refusal)")
            #expect(load.isServed(50), "\(offset)")
        }
        phones.stop()
        #expect(phones.acknowledged > 20)
        // None was taken by a wrong clock, and no good clock of a phone was corrected by one.
        let wrong: Int64 = try shop.database.value(
            """
            SELECT count(*) FROM analytics.events
            WHERE abs(extract(epoch FROM received_at - now())) > 900 OR time_source <> 'device'
            """)
        #expect(wrong == 0)
        try Laws.check(load, url: shop.database.url(), others: phones.sent)
        // It stops in time, too.
        clock.set(86_400)
        #expect(try service.stop() == 0)
    }

    @Test("that of the whole machine: ahead it is believed, back again nothing is taken until an operator says so")
    func ofMachine() throws {
        let shop = try EmbeddedShop()
        let clock = try FakeClock()
        try start(shop, clock)
        var bellwether = shop.bellwether
        bellwether.runner = clock.runner
        let service = try bellwether.serve()
        let load = Load(on: service, key: shop.key)
        #expect(load.isServed())
        // Nobody here could know better.
        clock.set(3 * 3600)
        #expect(load.isServed(50))
        var administrator = try Connection(url: try #require(shop.bellwether.superuserURL))
        let isAhead = try eventually {
            administrator.deadline = .after(seconds: 60)
            let last: Double = try administrator.query(
                "SELECT extract(epoch FROM max(committed_at))::float8 FROM log.batch")[0].get(0)
            return last > Date().timeIntervalSince1970 + 7200
        }
        #expect(isAhead)
        #expect(load.isServed(20))
        clock.set(0)
        #expect(load.isRefused(20))
        // Also if a commit that was under way meanwhile has the new time.
        let isTold = try eventually {
            let problem = try service.client().get("/readyz").problem
            return problem?.detail.contains("behind what they were") == true
                || problem?.detail.contains("behind the last commit") == true
        }
        #expect(isTold)
        #expect(load.isRefused(20))
        #expect(try service.stop() == 0)
        let trusting = try bellwether.serve("--trust-clock")
        load.turn(to: trusting)
        #expect(load.isServed(50))
        #expect(try trusting.stop() == 0)
        // That mends it for whoever starts later.
        let next = try bellwether.serve()
        load.turn(to: next)
        #expect(load.isServed(50))
        try Laws.check(load, url: try #require(shop.bellwether.url))
        #expect(try next.stop() == 0)
    }

    /// Sends a request without the end of its body. The service has received its head.
    private func begin(_ body: [UInt8], _ service: RunningService, _ key: String) throws -> RawClient {
        let client = try RawClient(port: service.port)
        client.send(
            "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.answer(within: 20).status == 100)
        client.send(Array(body.prefix(20)))
        return client
    }

    /// Starts the server of an embedded database with a clock of ours; whoever uses the database then finds it running.
    private func start(_ shop: EmbeddedShop, _ clock: FakeClock) throws {
        // Its settings are those of the server that it was copied from: all but the place of its socket.
        let base = try #require(shop.bellwether.data) + "/pg"
        var owner = stat()
        #expect(stat(base, &owner) == 0)
        let user =
            owner.st_uid == geteuid()
            ? [] : ["setpriv", "--reuid=\(owner.st_uid)", "--regid=\(owner.st_gid)", "--clear-groups", "--"]
        let programs = try #require(try PostgresInstallation.all(deadline: .after(seconds: 30)).first)
        let ended = try ChildProcess.run(
            user + clock.runner + [
                programs.program("pg_ctl"), "-D", base + "/data", "-w", "-l", base + "/log/start.log", "-o",
                "-k \(base)/socket", "start",
            ])
        #expect(ended.status == 0, "\(ended)")
    }
}

/// Phones whose clocks are right, and which say so.
private final class PunctualPhones: Sendable {
    private let state = Lock((isStopping: false, acknowledged: 0, sent: Set<String>()))
    private let worker = Lock(Worker?.none)

    init(_ service: RunningService, key: String) {
        worker.withLock {
            $0 = Worker(name: "punctual") { [state] in
                while state.wait(until: .after(seconds: 0.02), for: { $0.isStopping ? true : nil }) == nil {
                    let (now, id) = (Date().ISO8601Format(), Wire.id())
                    state.withLock { _ = $0.sent.insert(id) }
                    let body = Wire.envelope(sentAt: now, Wire.event(id: id, at: now))
                    if (try? service.client().post(body, key: key).status) == 200 {
                        state.withLock { $0.acknowledged += 1 }
                    }
                }
            }
        }
    }

    var acknowledged: Int { state.withLock { $0.acknowledged } }

    /// All that was tried.
    var sent: Set<String> { state.withLock { $0.sent } }

    func stop() {
        state.withLockNotifying { $0.isStopping = true }
        worker.withLock { $0 }?.join()
    }
}
