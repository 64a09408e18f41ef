import EventLog
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("What a report says of the proof of its numbers")
struct ProofReportTests {
    private func report(_ bellwether: Bellwether) throws -> (text: String, proof: [String: Any]?) {
        let words = ["report", "--app", "chat", "--date", "2026-11-20"]
        let text = try bellwether.start(words).wait()
        let json = try bellwether.start(words + ["--format", "json"]).wait()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        // In one line each, wherever the text is broken.
        let line = text.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return (line, object["proof"] as? [String: Any])
    }

    @Test("it says that every number was proved only if each was, and nothing of the app has come since")
    func said() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let other = try database.makeApp("other")
        let appender = try database.appender()
        let bellwether = try Bellwether(database)
        func append(to app: TestApp, _ count: Int = 1) throws {
            let events = (0..<count).map { place in
                var event = Event.sample(at: Event.sampleTime, interaction: .received(Receipt(via: .serviceExtension)))
                event.notification.id = "\(place)"
                return event
            }
            _ = try appender.append([app.submission(events)])
            _ = try bellwether.trusted("project", "--once")
        }
        try append(to: app, 3)
        var (text, proof) = try report(bellwether)
        #expect(!text.contains("proved") && proof == nil, "\(text)")

        // The same numbers, which have been proved since.
        let verified = try bellwether.run("verify")
        #expect(verified.status == 0, "\(verified)")
        (text, proof) = try report(bellwether)
        #expect(text.contains("Every funnel number on this page was proved at 20"), "\(text)")
        #expect(proof?["covers_page"] as? Bool == true && proof?["proved"] as? Bool == true, "\(proof ?? [:])")
        // What comes for another app changes nothing here.
        try append(to: other)
        #expect(try report(bellwether).proof?["covers_page"] as? Bool == true)
        #expect(
            try database.value("SELECT proved AND unchanged FROM analytics.proofs WHERE app = 'chat'", as: Bool.self))

        try append(to: app)
        (text, proof) = try report(bellwether)
        #expect(text.contains("were last proved at 20") && text.contains("up to batch 1 of the log"), "\(text)")
        #expect(proof?["unchanged"] as? Bool == false && proof?["covers_page"] as? Bool == false)

        // The day itself, and not those that it is compared with.
        _ = try bellwether.trusted("verify", "--since", "2026-11-20")
        (text, proof) = try report(bellwether)
        #expect(text.contains("Every funnel number of this day was proved at 20"), "\(text)")
        #expect(text.contains("The days that it is compared with were not."), "\(text)")
        #expect(proof?["covers_page"] as? Bool == false && proof?["since"] as? String == "2026-11-20")
        _ = try bellwether.trusted("verify", "--since", "2026-10-20")
        #expect(try report(bellwether).text.contains("Every funnel number on this page was proved"))

        // A failure is said, and hides no number.
        try database.run("UPDATE projection.category_funnel SET opened = opened + 1 WHERE app = \(app.id)")
        #expect(try bellwether.run("verify", "--since", "2026-11-20").status == 1)
        try append(to: app)
        (text, proof) = try report(bellwether)
        #expect(
            text.contains("of the funnels of all apps differed from the events. Do not rely on this page"), "\(text)")
        #expect(proof?["proved"] as? Bool == false)
        // Put right again, but for the cell that the last event may have begun in another shard.
        try database.run(
            "UPDATE projection.category_funnel SET opened = opened - 1 WHERE app = \(app.id) AND opened > 0")
        _ = try bellwether.trusted("verify")
        #expect(try report(bellwether).text.contains("Every funnel number on this page"))
        // A new zone moves days, so what was proved is not what stands there.
        _ = try bellwether.trusted("app", "set", "chat", "--time-zone", "Asia/Tokyo")
        #expect(try report(bellwether).text.contains("were last proved at"))
    }
}
