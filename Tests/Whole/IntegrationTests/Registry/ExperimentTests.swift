import Accounts
import EventLog
import Foundation
import Postgres
import ProjectFolder
import Registry
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@testable import Projections

@Suite("Experiments")
struct ExperimentTests {
    private let database: TestDatabase
    private let app: TestApp
    private let control: ProjectionControl
    /// The start of the experiments: noon in UTC, on 2026-11-20.
    private let start = TestDatabase.noon(2026, 11, 20)

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp("shop", timeZone: "Asia/Bangkok")
        control = ProjectionControl(url: try database.url(), log: .silent)
    }

    private static let hour: Int64 = 3_600_000_000

    private func event(
        _ interaction: Interaction, _ install: Int, at hours: Double, campaign: String? = nil, name: String = ""
    ) -> Event {
        var event = Event.sample(
            at: start + Int64(hours * Double(Self.hour)), install: Self.install(install), interaction: interaction)
        event.notification = Notification()
        if !interaction.type.isAboutInstall {
            event.notification.id = "n\(hours)\(name)"
            event.notification.campaign = campaign
        }
        return event
    }

    private static func install(_ number: Int) -> Values.UUID { Values.UUID(high: 7, low: UInt64(number)) }

    private func append(_ events: [Event], to app: TestApp? = nil) throws {
        let received = start + 40 * 24 * Self.hour
        _ = try database.appender().append([(app ?? self.app).submission(events, receivedAt: received)])
        #expect(try control.catchUp().stopped.isEmpty)
    }

    /// As the service does it: with its rights and no others.
    @discardableResult
    private func register(_ experiments: Experiment..., app: TestApp? = nil) throws -> ExperimentRegistry.Outcome {
        try database.lending(.ingest) { connection in
            try ExperimentRegistry.register(experiments, of: (app ?? self.app).id, on: &connection)
        }
    }

    private func half(
        _ name: String = "half", ends hours: Double? = nil, campaigns: [String] = [], goals: [String] = [],
        salt: String? = "s", percent: Double = 50
    ) throws -> Experiment {
        Experiment(
            name: name, share: try #require(ControlShare(percent: percent)), salt: salt, starts: start,
            ends: hours.map { start + Int64($0 * Double(Self.hour)) }, campaigns: campaigns, goals: goals)
    }

    private func told(
        _ name: String, _ columns: String = "goal, arm, installs, reached, goals, value, currency, turned_off, exposed"
    )
        throws -> [String]
    {
        try database.analystRows(
            "SELECT \(columns) FROM experiments WHERE app = 'shop' AND experiment = '\(name)' ORDER BY goal, arm")
    }

    private let opened = Interaction.opened(launch: .cold)
    private let receipt = Interaction.received(Receipt(via: .serviceExtension))
    private let off = Interaction.permissionChanged(to: .denied, from: .authorized)
    private func goal(_ name: String, _ value: Int64? = nil, _ currency: String? = nil) -> Interaction {
        .goalReached(Goal(name, value: value, currency: currency))
    }

    @Test("the database puts each install where the vectors say")
    func vectors() throws {
        defer { database.drop() }
        let file = ProjectFolder.url.appendingPathComponent("Examples/vectors/arms.json")
        let document = try #require(
            JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let vectors = try #require(document["vectors"] as? [[String: Any]])
        for (number, vector) in vectors.enumerated() {
            let given = try #require(vector["given"] as? [String: Any])
            let expected = try #require((vector["expect"] as? [String: String])?["arm"])
            let shop = try database.makeApp("v\(number)")
            try register(
                half(
                    salt: given["salt"] as? String, percent: try #require((given["control"] as? NSNumber)?.doubleValue)),
                app: shop)
            var seen = event(opened, 0, at: -1)
            seen.source = Source(
                installID: try #require((given["install_id"] as? String).flatMap { Values.UUID($0) }), platform: "ios")
            try append([seen], to: shop)
            let arms = try database.analystRows(
                "SELECT arm FROM experiments WHERE app = 'v\(number)' AND installs = 1")
            #expect(arms == ["(\(expected))"], "\(vector)")
        }
    }

    @Test("who counts, what counts, in which arm, and on which day: as a count by hand has it")
    func counts() throws {
        defer { database.drop() }
        let rule = ArmRule(try #require(ControlShare(percent: 50)), salt: "s")
        func of(_ arm: Arm, _ count: Int, from first: Int = 1) -> [Int] {
            Array((first...).lazy.filter { rule.arm(of: Self.install($0)) == arm }.prefix(count))
        }
        let (controls, treated) = (of(.control, 4), of(.treated, 4))
        let late = of(.control, 1, from: 1000)[0]
        try register(
            half(ends: 48, campaigns: ["spring", "summer"], goals: ["purchase", "visit"]), half("any", ends: 48))
        let month = 28.0 * 24
        try append(
            // Who counts: an event in the 28 days before the start, both ends of them included as they are.
            [event(opened, controls[0], at: -month), event(opened, controls[1], at: -0.001)]
                + controls[2...].map { event(opened, $0, at: -30) } + treated.map { event(opened, $0, at: -300) }
                // Not: before those days, at the start, and after it.
                + [
                    event(opened, late, at: -month - 0.001), event(opened, late, at: 0),
                    event(goal("purchase"), late, at: 1),
                ]
                // What counts.
                + [
                    event(goal("purchase", 9_500_000, "THB"), controls[0], at: 0),
                    event(goal("purchase", 500_000, "THB"), controls[0], at: 30),
                    event(goal("purchase", 1_000_000, "THB"), treated[0], at: 47.999),
                    event(goal("visit"), treated[0], at: 1), event(goal("visit", 5, "EUR"), treated[1], at: 25),
                    event(off, treated[2], at: 3), event(off, treated[2], at: 4),
                    event(.permissionChanged(to: .authorized, from: .denied), treated[3], at: 3),
                    event(receipt, controls[1], at: 2, campaign: "spring"),
                    event(receipt, controls[1], at: 26, campaign: "summer"),
                    event(.received(Receipt(via: .background)), controls[2], at: 26, campaign: "summer"),
                    event(receipt, treated[0], at: 2, campaign: "spring"),
                ]
                // Not: before the start, at the end, another goal, another campaign, no receipt.
                + [
                    event(goal("purchase"), treated[1], at: -0.001), event(goal("purchase"), treated[1], at: 48),
                    event(goal("other"), treated[2], at: 1), event(off, controls[3], at: -1),
                    event(off, controls[3], at: 48),
                    event(receipt, controls[3], at: -1, campaign: "spring"),
                    event(receipt, controls[3], at: 48, campaign: "spring"),
                    event(receipt, controls[3], at: 2, campaign: "winter", name: "w"),
                    event(opened, controls[3], at: 3, campaign: "spring", name: "o"),
                ])
        #expect(
            try told("half") == [
                "(purchase,control,4,1,2,10.000000,THB,0,2)", "(purchase,treated,4,1,1,1.000000,THB,1,1)",
                // Of several currencies there is no sum.
                "(visit,control,4,0,0,,,0,2)", "(visit,treated,4,2,2,,,1,1)",
            ])
        #expect(
            try told("any", "arm, installs, reached, goals, turned_off, exposed") == [
                "(control,4,1,2,0,0)", "(treated,4,3,4,1,0)",
            ])
        // 2026-11-20 12:00 in UTC is 19:00 in Bangkok: the fifth hour is the next day.
        #expect(
            try database.analystRows(
                """
                SELECT day, arm, installs, reached, goals, turned_off, exposed FROM experiment_days
                WHERE app = 'shop' AND experiment = 'half' AND goal = 'purchase' ORDER BY day, arm
                """) == [
                    "(2026-11-20,control,4,1,1,0,1)", "(2026-11-20,treated,4,0,0,1,1)",
                    "(2026-11-21,control,4,0,0,0,1)",
                    "(2026-11-21,treated,4,0,0,0,0)", "(2026-11-22,control,4,0,1,0,0)",
                    "(2026-11-22,treated,4,1,1,0,0)",
                ])
        // An install that is erased is gone from both.
        _ = try ErasureRun(control).run(app: app.id, install: Self.install(controls[0]))
        #expect(
            try told("half", "goal, arm, installs, reached, goals").prefix(2) == [
                "(purchase,control,3,0,0)", "(purchase,treated,4,1,1)",
            ])
        // What is left after retention would look like an answer, so there is none.
        try database.run("UPDATE log.partition SET closed_at = now() WHERE month = '2026-11-01'")
        #expect(
            try told("half", "DISTINCT goal, arm, installs, reached, value, exposed").allSatisfy {
                $0.hasSuffix(",,,,)")
            })
    }

    private func refusals(_ outcome: ExperimentRegistry.Outcome) -> [String] {
        if case .refused(let remarks) = outcome { remarks.map(\.path) } else { [] }
    }

    private func one(_ outcome: ExperimentRegistry.Outcome?) throws -> RegisteredExperiment {
        guard case .registered(let all) = outcome, let first = all.first else {
            throw Unregistered(outcome: outcome)
        }
        return first
    }

    private struct Unregistered: Error { let outcome: ExperimentRegistry.Outcome? }

    @Test("changes are versions; what decides is fixed from the start on, and everything from the end on")
    func versions() throws {
        defer { database.drop() }
        var past = try half(campaigns: ["spring"], goals: ["purchase"], salt: nil)
        past.starts = Timestamp(microseconds: 1_700_000_000_000_000)
        let first = try one(register(past))
        #expect(first.version == 1 && !first.isUnchanged && first.salt.count == 32)
        // The salt that it has is kept.
        let again = try one(register(past))
        #expect(again.version == 1 && again.isUnchanged && again.salt == first.salt)
        var more = past
        more.campaigns = ["spring", "summer"]
        #expect(try one(register(more)).version == 2)
        for (change, path) in [
            ({ $0.salt = "other" }, "salt"), ({ $0.goals = [] }, "goals"), ({ $0.starts = $0.starts + 1 }, "starts"),
            ({ $0.ends = $0.starts + 1 }, "ends"), ({ $0.name = "a\"b" }, "name"),
        ] as [((inout Experiment) -> Void, String)] {
            var changed = more
            change(&changed)
            #expect(refusals(try register(changed)) == [path], "\(path)")
        }
        var other = more
        other.share = try #require(ControlShare(percent: 20))
        // All or none.
        var fresh = try half("fresh")
        fresh.path = "experiments[0]"
        #expect(refusals(try register(fresh, other)) == ["control"])
        #expect(try database.value("SELECT count(*) FROM registry.experiment_version", as: Int64.self) == 2)

        func end(_ name: String, at moment: Timestamp? = nil) throws -> ExperimentRegistry.Outcome? {
            try database.lending(.ingest) { connection in
                try ExperimentRegistry.end(name, at: moment, of: app.id, on: &connection)
            }
        }
        #expect(try end("none") == nil)
        let ended = try one(end("half"))
        #expect(ended.version == 3 && ended.ends != nil && ended.salt == first.salt)
        #expect(try one(end("half")).isUnchanged)
        #expect(refusals(try register(past)) == ["ends"])
        // One that has not started may still become anything, or be called off.
        var later = try half("later")
        later.starts = Timestamp(microseconds: 4_000_000_000_000_000)
        #expect(try one(register(later)).version == 1)
        (later.salt, later.goals) = ("t", ["visit"])
        #expect(try one(register(later)).version == 2)
        let off = try one(end("later"))
        #expect(off.ends == off.starts && off.state(at: later.starts) == .calledOff)
        #expect(
            try database.analystRows(
                """
                SELECT experiment, version, is_newest, control, salt = '\(first.salt)', ends_at IS NULL, campaigns,
                    goals
                FROM experiment_versions WHERE app = 'shop' ORDER BY 1, 2
                """) == [
                    "(half,1,f,50,t,t,{spring},{purchase})", "(half,2,f,50,t,t,\"{spring,summer}\",{purchase})",
                    "(half,3,t,50,t,f,\"{spring,summer}\",{purchase})", "(later,1,f,50,f,t,{},{})",
                    "(later,2,f,50,f,t,{},{visit})", "(later,3,t,50,f,f,{},{visit})",
                ])
        #expect(throws: (any Error).self) { try database.run("UPDATE registry.experiment_version SET salt = 'x'") }
    }
}
