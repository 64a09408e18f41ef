import Accounts
import Envelopes
import EventLog
import Postgres
import Projections
import Registry
import Simulation
import Telemetry
import TestSupport
import Testing
import Values

@testable import Reports

@Suite("Experiments of simulated apps")
struct SimulatedExperimentTests {
    /// Plants what the pushes do in an app of its own, and reads what its report says a day after the end.
    private func read(_ slug: String, in database: TestDatabase, _ plant: (inout Trial) -> Void) throws -> Report {
        let app = try database.makeApp(slug, timeZone: "Europe/Berlin")
        let start = TestDatabase.noon(2026, 10, 20)
        let experiment = Experiment(
            name: "push", share: try #require(ControlShare(percent: 50)), salt: "salt of \(slug)", starts: start,
            campaigns: ["autumn"], goals: ["purchase"])
        try database.lending(.ingest) { connection in
            _ = try ExperimentRegistry.register([experiment], of: app.id, on: &connection)
        }
        let rule = ArmRule(experiment.share, salt: experiment.salt ?? "")
        var trial = Trial(.news, installs: 3000, from: start, days: 10, campaign: "autumn", goal: "purchase")
        plant(&trial)
        let decoder = EnvelopeDecoder()
        var submissions: [Submission] = []
        for envelope in trial.envelopes(seed: 11, isControl: { rule.arm(of: $0) == .control }) {
            let decoded = try decoder.decode(
                body: envelope.body(sentAt: envelope.time), receivedAt: envelope.time + 400_000)
            submissions.append(Submission(app: app.id, key: app.key.id, envelope: decoded))
        }
        let appender = try database.appender()
        for part in stride(from: 0, to: submissions.count, by: 1000) {
            _ = try appender.append(Array(submissions[part..<min(part + 1000, submissions.count)]))
        }
        #expect(try database.projections().catchUp().stopped.isEmpty)
        let day = CivilDate(year: 2026, month: 10, day: 30)
        return try database.lending(.reporter) { connection in
            try ReportReader(app: slug, period: .day(try #require(day)), now: start + 12 * 86_400_000_000).read(
                on: &connection)
        }
    }

    private func sentences(_ report: Report) -> String {
        (ExperimentsSection.words(report)?.blocks ?? []).compactMap {
            if case .sentence(let words, let tone) = $0, tone != .note { "\(tone): \(words)" } else { nil }
        }.joined(separator: "\n")
    }

    @Test("an effect is found, no effect is not, and a loss of one arm and a leak are alarmed")
    func told() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let effect = try read("effect", in: database) { $0.lift = 0.5 }
        let found = try #require(effect.experiments.first?.goals.first)
        #expect(found.sign == 1 && found.interval?.contains(0.1) == true, "\(found)")
        #expect(sentences(effect).hasPrefix("good: The pushes of push help: "), "\(sentences(effect))")
        #expect(ExperimentsSection.deeds(effect).isEmpty)

        let nothing = try read("nothing", in: database) { _ in }
        let none = try #require(nothing.experiments.first?.goals.first)
        #expect(none.sign == 0 && none.interval?.contains(0) == true, "\(none)")
        #expect(sentences(nothing).hasPrefix("plain: Nobody can tell yet whether the pushes of push change purchase: "))

        let loss = try read("loss", in: database) { $0.lost = 0.2 }
        #expect(try #require(loss.experiments.first).isMisdrawn)
        #expect(sentences(loss).hasPrefix("alarm: Do not believe push for now: its arms are not what was drawn."))
        #expect(!sentences(loss).contains("help") && !sentences(loss).contains("Nobody can tell"))
        #expect(ExperimentsSection.deeds(loss).map(\.ask) == ["Find out what experiment push loses"])

        let leak = try read("leak", in: database) { $0.leaked = 0.05 }
        #expect(try #require(leak.experiments.first).isLeaking)
        #expect(sentences(leak).hasPrefix("alarm: push finds less than there is: "), "\(sentences(leak))")
    }
}
