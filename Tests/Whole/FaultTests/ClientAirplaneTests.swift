import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("A phone with a client library in airplane mode")
struct ClientAirplaneTests {
    @Test("after weeks without a network, on a clock that jumps by years, each event is stored once, in order")
    func airplane() async throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try TestSupport.Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let isDown = Lock(true)
        let proxy = try HostileProxy(before: service.port) { number, _ in
            isDown.withLock { $0 } ? .reset : number % 2 == 0 ? .swallow : .pass
        }
        defer { proxy.stop() }
        let scratch = TemporaryDirectory()
        let time = Lock((wall: Date(timeIntervalSince1970: 1_790_000_000), uptime: 0.0))
        let pass = { @Sendable (seconds: Double) in time.withLock { $0 = ($0.wall + seconds, $0.uptime + seconds) } }
        let clock = DeviceClock(
            wall: { time.withLock { $0.wall } }, uptime: { time.withLock { $0.uptime } }, sleep: { pass($0) })
        let server = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
        var configuration = BellwetherClient.Bellwether.Configuration(
            server: server, writeKey: app.secret, directory: URL(fileURLWithPath: scratch("queue")))
        configuration.deliversByItself = false
        let begin = { BellwetherClient.Bellwether(configuration, transport: URLSessionTransport(), clock: clock) }

        var client = begin()
        let days = 40
        for day in 0..<days {
            for number in 0..<5 {
                let push = client.push(["aps": ["alert": "x"]], request: .init(identifier: "\(day)-\(number)"))
                client.received(push, .serviceExtension())
                pass(60)
            }
            #expect(await client.flush(within: 5) != .delivered)
            pass(86_400)
            let years = day % 7 == 3 ? 20.0 : day % 7 == 4 ? -20 : 0
            time.withLock { $0.wall += years * 365 * 86_400 }
            // The phone is switched off and on.
            if day % 10 == 9 { client = begin() }
        }
        isDown.withLock { $0 = false }
        pass(86_400)
        #expect(await client.flush(within: 600) == .delivered)
        let stored: [String] = try database.column("SELECT notification_id FROM analytics.events ORDER BY seq")
        #expect(stored == (0..<days).flatMap { day in (0..<5).map { "\(day)-\($0)" } })
        let seqs: [Int64] = try database.column("SELECT seq FROM analytics.events ORDER BY seq")
        #expect(seqs == Array(1...Int64(days * 5)))
        #expect(try database.column("SELECT count(*) FROM analytics.client_drops") == [Int64(0)])
        try Laws.checkFunnels(url: database.url())
    }
}
