import CatalogueSupport
import Envelopes
import EventLog
import Foundation
import HTTPServer
import Postgres
import Projections
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Look

private typealias UUID = Values.UUID

@Suite("Live") struct LiveTests {
    /// An answer of the feed: its events and the position to go on from.
    private struct Heard {
        let events: [(kind: String, data: String)]
        let position: String

        init(_ answer: RawClient.Answer) throws {
            try #require(answer.status == 200 && answer["content-type"]?.hasPrefix("text/event-stream") == true)
            let blocks = answer.body.components(separatedBy: "\n\n")
            events = blocks.compactMap { block in
                let lines = block.split(separator: "\n")
                guard let kind = lines.first(where: { $0.hasPrefix("event: ") }),
                    let data = lines.first(where: { $0.hasPrefix("data: ") })
                else { return nil }
                return (String(kind.dropFirst(7)), String(data.dropFirst(6)))
            }
            let ids = answer.body.split(separator: "\n").filter { $0.hasPrefix("id: ") }
            try #require(ids.count == 1 && blocks.dropLast().last?.contains(ids[0]) == true)
            position = String(ids[0].dropFirst(4))
        }
    }

    private static func withPages(_ body: (TestDatabase, TestApp, Look) throws -> Void) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp("shop")
        let look = try LookedAt.open(database)
        defer { look.stop(deadline: .now) }
        try body(database, app, look)
    }

    private static func sample(_ interaction: Interaction = .opened(launch: .cold), install: UUID = .random()) -> Event
    {
        let now = WallClock.now
        return .sample(at: now, receivedAt: now, install: install, interaction: interaction)
    }

    @Test("an event is heard within a second of its commit, once, and one goes on where one was")
    func heard() throws {
        try Self.withPages { database, app, look in
            let appender = try database.appender()
            _ = try appender.append([app.submission([Self.sample()], receivedAt: WallClock.now)])
            let begun = try Heard(HTTPClient(look).get("/app/shop/live/events?position=0"))
            #expect(begun.events.count == 1 && begun.position == "1")
            // On a busy machine some of them take longer.
            var (position, soonest) = (1, Double.infinity)
            while soonest >= 1, position < 50 {
                let heard = Lock<(Heard, Deadline)?>(nil)
                let waiter = Worker(name: "listener") { [position] in
                    let answer = try? HTTPClient(look).get(
                        "/app/shop/live/events", headers: ["Last-Event-ID": "\(position)"])
                    heard.withLockNotifying { $0 = answer.flatMap { try? Heard($0) }.map { ($0, .now) } }
                }
                _ = try appender.append([app.submission([Self.sample()], receivedAt: WallClock.now)])
                let committed = Deadline.now
                let (next, at) = try #require(heard.wait(until: .after(seconds: 300)) { $0 })
                waiter.join()
                position += 1
                #expect(next.events.count == 1 && next.events[0].data.contains("notification.opened"))
                #expect(next.position == "\(position)")
                soonest = min(soonest, Double(at.nanoseconds - committed.nanoseconds) / 1e9)
            }
            #expect(soonest < 1)
        }
    }

    @Test(
        "it is narrowed by type and install; what is refused comes with its reason, and no text makes a line of its own"
    )
    func narrowed() throws {
        try Self.withPages { database, app, look in
            let appender = try database.appender()
            let install = UUID.random()
            let hostile = Event.sample(
                at: WallClock.now, receivedAt: WallClock.now, category: "x\n\nevent: forged\ndata: y\u{202e}",
                interaction: .dismissed)
            let refused = RejectedEvent(
                id: nil, rejection: Rejection(.missingField, "events[0].at is missing"), raw: "{}")
            _ = try appender.append([
                app.submission(
                    [Self.sample(install: install), Self.sample(), hostile], rejected: [refused],
                    receivedAt: WallClock.now)
            ])
            let client = HTTPClient(look)
            func ask(_ query: String) throws -> [(kind: String, data: String)] {
                try Heard(client.get("/app/shop/live/events?position=0\(query)")).events
            }
            let all = try ask("")
            #expect(all.count == 4 && all.filter { $0.kind == "refused" }.count == 1)
            #expect(all.contains { $0.kind == "refused" && $0.data.contains("missing_field: events[0].at is missing") })
            #expect(!all.contains { $0.kind == "forged" } && all.contains { $0.data.contains("forged") })
            let ofInstall = try ask("&install=\(install)")
            // What was refused is the install's whose envelope it came in.
            #expect(ofInstall.map(\.kind) == ["accepted", "refused"], "\(ofInstall)")
            #expect(try ask("&type=notification.dismissed").count == 1)
        }
    }

    @Test("whoever hangs up leaves room for others; another web site takes none, whatever the app is called")
    func left() throws {
        try Self.withPages { database, _, look in
            _ = try database.makeApp("live-scores")
            let page = try HTTPClient(look).get("/app/live-scores/live").body
            let feed = try #require(page.firstMatch(of: /data-feed="([^"]*)"/)).1
            #expect(feed == "/app/live-scores/live/events?position=0")
            guard case .tcp(_, let port) = look.address else { return }
            for _ in 0..<64 {
                let client = try RawClient(port: port)
                client.send("GET /app/shop/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            // All have hung up. One that comes now waits, and hears after some seconds that nothing came.
            #expect(try eventually { try HTTPClient(look).get(String(feed)).status == 200 })
            let stranger = try HTTPClient(look).get(String(feed), headers: ["Sec-Fetch-Site": "cross-site"])
            #expect(stranger.status == 403)
            // Whoever only stopped sending is answered soon, and the connection ends.
            let silent = try RawClient(port: port)
            silent.send("GET /app/shop/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            silent.finishSending()
            #expect(try silent.answer(within: 60).status == 200)
        }
    }

    @Test("so many may wait and no more, and all are let go when it stops") func bounded() throws {
        try Self.withPages { _, _, look in
            guard case .tcp(_, let port) = look.address else { return }
            let clients = try (0..<80).map { _ in
                let client = try RawClient(port: port)
                client.send("GET /app/shop/live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return client
            }
            let answers = clients.map { try? $0.answer(within: 60).status }
            // The first of those who waited hear after some seconds that nothing came.
            #expect(answers.filter { $0 == 503 }.count >= 16 && answers.filter { $0 == 200 }.count <= 64)
            #expect(answers.allSatisfy { $0 == 200 || $0 == 503 })
        }
    }

    @Test("the check list of an app turns green, item by item, and says what is wrong") func checks() throws {
        try Self.withPages { database, app, look in
            let client = HTTPClient(look)
            func page() throws -> String {
                _ = try ProjectionControl(url: try database.url(), log: .silent).catchUp()
                return try client.get("/app/shop/live").body
            }
            func states(_ page: String) -> [Substring] {
                page.matches(of: /<\/?svg.*?>|<li class="(good|alarm|note)"><strong/).compactMap { $0.1 }
            }
            #expect(states(try page()) == Array(repeating: "note", count: 7))
            let (install, other) = (UUID.random(), UUID.random())
            let now = WallClock.now
            func event(_ interaction: Interaction, _ install: UUID) -> Event {
                var event = Event.sample(at: now, receivedAt: now, install: install, interaction: interaction)
                event.notification.category = "NEW"
                return event
            }
            let appender = try database.appender()
            _ = try appender.append([
                app.submission(
                    [event(.received(Receipt(via: .serviceExtension)), other), event(.opened(launch: .cold), install)],
                    receivedAt: now)
            ])
            // Two installs: the App Group is wrong. And nobody registered the category.
            #expect(states(try page()) == ["good", "good", "good", "note", "alarm", "good", "alarm"])
            _ = try appender.append([
                app.submission(
                    [
                        event(.received(Receipt(via: .serviceExtension)), install),
                        event(.actionTapped(ActionTap(actionID: "A")), install),
                    ],
                    receivedAt: now)
            ])
            #expect(states(try page()).prefix(6) == ["good", "good", "good", "good", "good", "good"])
        }
    }
}
