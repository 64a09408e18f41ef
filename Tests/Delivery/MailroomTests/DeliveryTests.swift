import Foundation
import HTTPServer
import Postgres
import ProjectFolder
import ServiceRuntime
import TestSupport
import Testing

@Suite("Reports are delivered")
struct DeliveryTests {
    @Test("each report reaches each place that wants it, once, however often the night is run")
    func once() throws {
        let night = try Night("chat", "shop")
        defer { night.database.drop() }
        let (chat, program) = (try ListeningPlace(), try ListeningPlace())
        try night.sendmail()
        try night.write("slack", "  \(chat.url)\(Night.path)\n")
        try night.places(
            "\"name\": \"team\", \"slack\": {\"file\": \"\(night.files("slack"))\"}",
            "\"name\": \"managers\", \"teams\": {\"environment\": \"TEAMS_URL\"}, \"apps\": [\"shop\"]",
            night.json("warehouse", program),
            "\"name\": \"people\", \"mail\": [\"ana@shop.example\", \"bo@shop.example\"], \"apps\": [\"chat\"]",
            night.json("only-news", program, ", \"when\": [\"alarms\", \"fell\", \"rose\"]"))
        let bellwether = night.bellwether.knowing(["TEAMS_URL": "\(chat.url)/teams\(Night.path)"])
        var said = ""
        for _ in 1...2 {
            let ended = try night.run(by: bellwether)
            #expect(ended.status == 0 && ended.output.isEmpty, "\(ended)")
            said += ended.messages
        }
        let slack = chat.heard.filter { $0.path == Night.path }
        #expect(slack.count == 2 && slack.allSatisfy { $0.object["mrkdwn"] as? Bool == false })
        #expect(
            (slack[0].object["text"] as? String)?.hasPrefix("chat, Friday 20 November: nothing unusual\n2 deliveries")
                == true)
        let teams = chat.heard.filter { $0.path == "/teams" + Night.path }
        #expect(teams.count == 1 && teams[0].object["type"] as? String == "message")
        #expect(program.heard.map { $0.object["app"] as? String } == ["chat", "shop"])
        #expect(program.heard.allSatisfy { !$0.isRepeat && $0.object["schema"] as? String == "bellwether.delivery/1" })
        let report = program.heard[1].object["report"] as? [String: Any]
        #expect(report?["schema"] as? String == "bellwether.report/1" && report?["app"] as? String == "shop")
        #expect(night.mails.count == 1)
        #expect(
            night.mails.first?.hasPrefix("-i -f reports@shop.example -- ana@shop.example bo@shop.example\nFrom: ")
                == true)
        #expect(
            try night.deliveries(to: "only-news") == [
                "chat 2026-11-20 nothing_to_tell 0", "shop 2026-11-20 nothing_to_tell 0",
            ])
        #expect(try night.deliveries(to: "managers") == ["shop 2026-11-20 sent 1"])
        #expect(try night.examination().contains("OK"))

        // What opens a place stands neither in the database nor in what is said.
        let kept = try night.database.column("SELECT to_json(l)::text FROM report.letter AS l", of: String.self)
            .joined()
        for secret in ["geheim", "127.0.0.1"] { #expect(!kept.contains(secret) && !said.contains(secret), "\(said)") }
        #expect(!kept.contains("as_json\":\"") && said.contains("warehouse: 2 reports delivered"))

        // The report of a week is another one.
        let week = try bellwether.start(night.words + ["--week", "2026-W47"]).wait()
        #expect(week.status == 0, "\(week)")
        #expect(program.heard.count == 4 && program.heard[2].period == "2026-W47")
    }

    @Test("what has not ended is not delivered, since each place gets one report of it")
    func unfinished() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let program = try ListeningPlace()
        try night.places(night.json("warehouse", program))
        let week: String = try night.database.value(#"SELECT to_char(now() AT TIME ZONE 'UTC', 'IYYY-"W"IW')"#)
        let ended = try night.bellwether.start(night.words + ["--week", week]).wait()
        #expect(
            ended.status == 0 && ended.messages.contains("for \(week) is not delivered before that has ended"),
            "\(ended)")
        #expect(program.heard.isEmpty)
        #expect(try night.deliveries(to: "warehouse") == [])
    }

    @Test("a place that is away hears it the next night, in order and once, while the others hear it at once")
    func away() throws {
        let night = try Night("chat", "shop")
        defer { night.database.drop() }
        let (lame, well) = (try ListeningPlace(), try ListeningPlace())
        try night.sendmail(code: 75)
        try night.places(
            night.json("lame", lame), "\"name\": \"people\", \"mail\": [\"ana@shop.example\"]", night.json("well", well)
        )
        lame.answer(500, "trouble")
        let first = try night.run("2026-11-19")
        #expect(
            first.status == 1
                && first.messages.contains("lame: chat, 2026-11-19 was not delivered: 127.0.0.1 answers 500"))
        #expect(lame.heard.count == 1 && well.heard.count == 2)
        #expect(
            try night.deliveries(to: "people").first
                == "chat 2026-11-19 waiting 1 \(night.files("sendmail")) ended with 75: no route to host")
        #expect(try night.examination().contains("4 reports have not reached their place; chat, 2026-11-19 to lame"))

        lame.answer(200)
        try night.sendmail()
        let second = try night.run()
        #expect(second.status == 0, "\(second)")
        let heard = lame.heard.dropFirst().map { "\($0.period) \($0.object["app"] as? String ?? "")" }
        #expect(heard == ["2026-11-19 chat", "2026-11-19 shop", "2026-11-20 chat", "2026-11-20 shop"])
        // It was told no: what it hears now is no repeat, under the same id.
        #expect(lame.heard.allSatisfy { !$0.isRepeat })
        #expect(lame.heard[0].headers["webhook-id"] == lame.heard[1].headers["webhook-id"])
        #expect(well.heard.count == 4 && night.mails.count == 1 + 4)
        #expect(try night.examination().contains("OK"))
    }

    @Test("what nobody can tell the fate of is sent again with the same id, and says so")
    func unanswered() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let place = try ListeningPlace()
        try night.places(night.json("warehouse", place))
        place.answer(200, String(repeating: "x", count: 100_000))
        #expect(try night.run().status == 1)
        place.answer(504)
        #expect(try night.run().status == 1)
        place.answer(204)
        #expect(try night.run().status == 0)
        #expect(place.heard.map(\.isRepeat) == [false, true, true])
        #expect(Set(place.heard.map { $0.headers["webhook-id"] }).count == 1)
        #expect(Set(place.heard.map { $0.object["id"] as? String }) == [place.heard[0].headers["webhook-id"]])
    }

    @Test("a message that a place does not take holds up no other one, and is given up in the end")
    func poison() throws {
        let night = try Night("chat", "shop")
        defer { night.database.drop() }
        let place = try ListeningPlace()
        try night.places(night.json("warehouse", place))
        place.answer(400, "invalid_payload")
        let ended = try night.run()
        #expect(ended.status == 1 && ended.messages.contains("(invalid_payload)"), "\(ended)")
        #expect(place.heard.count == 2)
        try night.database.run("UPDATE report.letter SET attempts = 34 WHERE app = 'chat'")
        try night.database.run(
            "UPDATE report.letter SET written_at = written_at - interval '8 days' WHERE app = 'shop'")
        #expect(try night.run().status == 1)
        let states = try night.deliveries(to: "warehouse")
        #expect(states[0].hasPrefix("chat 2026-11-20 given_up 35 given up after 35 attempts: 127.0.0.1 answers 400"))
        #expect(states[1].hasPrefix("shop 2026-11-20 given_up 1 given up after 7 days: 127.0.0.1 answers 400"))
        #expect(try night.run().status == 0 && place.heard.count == 3)
        #expect(try night.examination().contains("2 reports were given up in the last week"))
    }

    @Test("two runs at once send each report once")
    func twoRuns() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let place = try ListeningPlace()
        try night.places(night.json("warehouse", place))
        let one = try night.bellwether.stopping(at: "letter begun").start(night.words + ["--date", Night.day])
        var courier: pid_t?
        let isStopped = eventually(within: 60) {
            courier = ProcessTable.family(of: one.id).first { ProcessTable.isStopped($0) }
            return courier != nil
        }
        #expect(isStopped, "\(one.messages)")
        let other = try night.bellwether.start(night.words + ["--date", Night.day])
        #expect(try night.database.hasWaiters(1), "\(other.messages)")
        kill(try #require(courier), SIGCONT)
        #expect(try one.wait().status == 0 && other.wait().status == 0)
        #expect(place.heard.count == 1 && place.heard[0].isRepeat == false)
    }

    @Test("what waits for a place that a file does not have is told, and reaches it by the next file that has it")
    func otherFile() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let (one, other) = (try ListeningPlace(), try ListeningPlace())
        one.answer(500)
        try night.places(night.json("one", one))
        #expect(try night.run("2026-11-19").status == 1)
        try night.places(night.json("other", other))
        let without = try night.run()
        #expect(
            without.status == 0
                && without.messages.contains("one: 1 report waits, but no place in this file has this name"),
            "\(without)")
        #expect(one.heard.count == 1 && other.heard.map(\.period) == [Night.day])
        let waiting = try night.deliveries(to: "one")
        #expect(
            waiting.count == 1 && waiting[0].hasPrefix("chat 2026-11-19 waiting 1 127.0.0.1 answers 500"),
            "\(waiting)")
        one.answer(200)
        try night.places(night.json("one", one), night.json("other", other))
        #expect(try night.run().status == 0)
        #expect(one.heard.map(\.period) == ["2026-11-19", "2026-11-19", Night.day] && other.heard.count == 1)
    }

    @Test("a secret of two lines is none, so that no half of a URL or key is used")
    func twoLines() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let place = try ListeningPlace()
        try night.places(night.json("warehouse", place))
        try night.write("key", "\(Night.key)\nzweite\n")
        let refused = try night.run()
        #expect(refused.status == 1 && refused.messages.contains("has more than one line"), "\(refused)")
        #expect(!refused.messages.contains("geheim") && !refused.messages.contains("zweite") && place.heard.isEmpty)
        try night.write("key", "\n  \(Night.key) \n\n")
        #expect(try night.run().status == 0 && place.heard.count == 1)
    }

    @Test("a place is believed only with a certificate that somebody vouches for")
    func certificate() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        let pair = HTTPServerConfiguration.TLS(certificate: night.files("c.pem"), privateKey: night.files("k.pem"))
        let made = try ChildProcess.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", night.files("k.pem"), "-out", night.files("c.pem"),
        ])
        #expect(made.status == 0, "\(made.messages)")
        let place = try ListeningPlace(tls: pair)
        let url = place.url.replacingOccurrences(of: "http:", with: "https:")
        try night.places(
            "\"name\": \"warehouse\", \"json\": \"\(url)/\", \"key\": {\"file\": \"\(night.files("key"))\"}")
        let ended = try night.run()
        #expect(ended.status == 1 && ended.messages.contains("no safe connection to 127.0.0.1"), "\(ended)")
        #expect(place.heard.isEmpty)
    }

    @Test("a fault in the file is named with its line, and keeps no report of a night from being made")
    func faultyFile() throws {
        let night = try Night("chat")
        defer { night.database.drop() }
        try night.write(
            "places.json", "{\"places\": [\n{\"name\": \"team\",\n \"slack\": \"https://hooks.example/geheim\"}]}")
        let alone = try night.run()
        #expect(alone.status == 1 && !alone.messages.contains("geheim"))
        #expect(alone.messages.contains("line 3: places[0].slack is a secret, and must not stand here"), "\(alone)")
        let output = TemporaryDirectory()
        let nightly = try night.bellwether.start(night.words + ["--date", Night.day, "--output-dir", output.path])
            .wait()
        #expect(nightly.status == 1 && FileManager.default.fileExists(atPath: output("chat/\(Night.day).html")))

        try night.sendmail()
        try night.places("\"name\": \"people\", \"mail\": [\"ana@shop.example\"], \"apps\": [\"chatt\"]")
        let strange = try night.run()
        #expect(
            strange.status == 1 && strange.messages.contains("for the app 'chatt', which does not exist"), "\(strange)")
        #expect(night.mails.isEmpty)
    }
}
