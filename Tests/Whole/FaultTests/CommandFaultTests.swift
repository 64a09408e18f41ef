import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("Commands that change much are killed beside a busy service")
struct CommandFaultTests {
    @Test("rebuild, killed half-way several times and then run to its end, resumes, proves and leaves no table behind")
    func rebuild() throws {
        try ProjectedShop.open { busy in
            let load = Load(clients: 2, on: busy.service, key: busy.app.secret)
            #expect(load.isServed(100))
            try busy.kill(["rebuild"], beside: load)
            try Laws.check(load, url: busy.database.url())
            // A backend that has not yet noticed that its client was killed may still read the old tables. They wait
            // for it, and go with the next rebuild.
            let isLeft = try eventually {
                let states: [String] = try busy.database.column("SELECT state FROM projection.generation")
                if states == ["live"] { return true }
                _ = try busy.bellwether.trusted("rebuild")
                return false
            }
            #expect(isLeft)
            #expect(try busy.database.value(ProjectionTables.count, as: Int64.self) == ProjectionTables.ofOneGeneration)
        }
    }

    @Test("erase, killed at any moment and run again, has erased everything")
    func erase() throws {
        try ProjectedShop.open { busy in
            let install = Wire.id()
            let events = (0..<400).map { _ in AnyEvent.make() }
            let envelope = Wire.envelope(install: install, events)
            #expect(try busy.service.client().post(envelope, key: busy.app.secret).results.accepted == 400)
            let load = Load(clients: 2, on: busy.service, key: busy.app.secret)
            try busy.kill(["erase", "--app", busy.app.slug, "--install", install], times: 3, beside: load) {
                try Laws.checkFunnels(url: busy.database.url())
            }
            for view in ["events", "deliveries"] {
                #expect(
                    try busy.database.analystRows("SELECT FROM \(view) WHERE install_id = '\(install)'").isEmpty,
                    "\(view)")
            }
            #expect(try busy.service.client().post(envelope, key: busy.app.secret).results.rejected == 400)
            try Laws.check(load, url: busy.database.url())
        }
    }

    @Test("retain, killed at any moment and run again, has dropped the months, and no number of theirs ever moved")
    func retain() throws {
        try ProjectedShop.open { busy in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
            let months = (12..<18).compactMap { back in
                calendar.date(byAdding: .month, value: -back, to: Date())?.ISO8601Format().prefix(7)
            }
            let client = busy.service.client()
            for _ in 0..<5 {
                let events = months.flatMap { month in (0..<30).map { AnyEvent.make(day: "\(month)-1\($0 % 10)") } }
                #expect(try client.post(Wire.envelope(events), key: busy.app.secret).results.accepted == events.count)
            }
            let made = try eventually {
                try busy.database.value(
                    "SELECT count(*) FROM log.partition WHERE month < now() - interval '300 days'", as: Int64.self) >= 6
            }
            #expect(made)
            try busy.database.run(
                "BEGIN; SELECT log.open_gate(); UPDATE log.event SET received_at = device_at; COMMIT")
            #expect(try busy.database.becomesLevel())
            let numbers = {
                try ProjectionTables.views.flatMap { view in
                    try busy.database.analystRows("SELECT * FROM \(view) WHERE day < now() - interval '300 days'")
                        .sorted()
                }
            }
            let before = try numbers()
            #expect(before.count > 100)
            let load = Load(clients: 2, on: busy.service, key: busy.app.secret)
            try busy.kill(["retain", "--days", "250"], beside: load) {
                let present = try numbers()
                #expect(present == before)
            }
            load.stop()
            try Laws.checkFunnels(url: busy.database.url())
            let left: Int64 = try busy.database.value(
                "SELECT count(*) FROM log.opened_event WHERE occurred_at < now() - interval '300 days'")
            #expect(left == 0)
            #expect(try busy.bellwether.run("rebuild").status == 0)
            #expect(try numbers() == before)
        }
    }

    @Test(
        "an app's time zone, changed to and fro by commands that are killed, is in the end the last one's on every day")
    func timeZone() throws {
        try ProjectedShop.open { busy in
            let load = Load(clients: 2, on: busy.service, key: busy.app.secret)
            #expect(load.isServed(100))
            for zone in ["Asia/Bangkok", "Pacific/Honolulu", "Asia/Bangkok", "UTC"] {
                let command = try busy.bellwether.start(["app", "set", busy.app.slug, "--time-zone", zone])
                #expect(load.isServed(.random(in: 1...60)))
                command.signal(SIGKILL)
                try command.wait()
            }
            try busy.kill(["app", "set", busy.app.slug, "--time-zone", "Pacific/Honolulu"], times: 2, beside: load)
            try Laws.check(load, url: busy.database.url())
            #expect(try busy.bellwether.trusted("app", "list").contains("Pacific/Honolulu"))
        }
    }
}

extension ProjectedShop {
    /// Starts a command again and again and kills it at some moment, so many times; then runs it to its end.
    fileprivate func kill(
        _ words: [String], times: Int = 4, beside load: Load, after check: () throws -> Void = {}
    ) throws {
        // Envelopes are the clock: some commands take as long as one, others as a hundred. Who came too late is
        // quicker the next time.
        var kills = 0
        var patience = 128
        for _ in 0..<(8 + times) where kills < times {
            let command = try bellwether.start(words)
            let envelopes = Int.random(in: 0...patience)
            #expect(envelopes == 0 || load.isServed(envelopes))
            command.signal(SIGKILL)
            if try command.wait().status == 128 + SIGKILL { kills += 1 } else { patience /= 2 }
            try check()
        }
        #expect(kills > 0, "it was never caught at work")
        let ended = try bellwether.start(words).wait()
        #expect(ended.status == 0, "\(ended)")
        try check()
    }
}
