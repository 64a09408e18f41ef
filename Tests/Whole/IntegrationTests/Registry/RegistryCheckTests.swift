import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

@testable import Registry

@Suite("The check of what is registered")
struct RegistryCheckTests {
    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    /// Each finding as `severity kind category/action count since`.
    private func findings() throws -> [String] {
        try app.check().findings.map { finding in
            let what = finding.category + (finding.action.map { "/\($0)" } ?? "")
            let often =
                finding.count.map { " \($0) \(finding.unit.rawValue) \(finding.since.map { "\($0)" } ?? "")" } ?? ""
            return "\(finding.severity.rawValue) \(finding.kind.rawValue) \(what)\(often)"
        }
    }

    /// Writes taps into the log, one delivery each.
    private func log(_ category: String, _ taps: ActionTap...) throws {
        let events = taps.map { Event.sample(category: category, interaction: .actionTapped($0)) }
        let verdicts = try database.appender().append([app.submission(events)])[0]
        try #require(verdicts.allSatisfy { $0 == .accepted })
    }

    @Test("knows all seventeen buttons that Hive brings along")
    func hive() throws {
        defer { database.drop() }
        let categories = Preset.hive.document.categories
        for category in categories {
            for button in category.buttons {
                try app.tapped(category.id, button.id, 3)
                try log(category.id, ActionTap(actionID: button.id))
            }
        }
        #expect(try findings().count { $0.hasPrefix("unregistered ") } == 9)
        try app.register(Preset.hive.document)
        #expect(try app.check().findings == [])
    }

    @Test("finds nothing where all is as registered, and says how much that is")
    func clean() throws {
        defer { database.drop() }
        try app.register(
            Category(
                id: "INFO",
                buttons: [
                    Button(
                        id: "VIEW", titles: [.init("en", "View")], activation: .foreground, destructive: false,
                        authenticationRequired: true, textInput: false), .titled("CLOSE"),
                ], compactActions: ["CLOSE"], customDismiss: true, contentExtension: true))
        try app.tapped("INFO", "VIEW", 3)
        try log(
            "INFO",
            ActionTap(
                actionID: "VIEW", actionIndex: 0, actionCount: 2, activation: .foreground, destructive: false,
                authenticationRequired: true, textInput: false), ActionTap(actionID: "VIEW"),
            // Nothing was said of this one but its place.
            ActionTap(actionID: "CLOSE", actionIndex: 1, actionCount: 2, activation: .background, destructive: true))
        try app.insert(
            "category_funnel",
            ["category": try app.word(.category, "INFO"), "delivered": 9, "dismissed": 2, "expanded": 3])
        let check = try app.check()
        #expect(check.findings == [] && check.isClean)
        #expect(
            check.text
                == "'chat' has 1 category with 2 buttons registered: 0 unregistered, 0 impossible, 0 to look at.\n")
        #expect(check.json == #"{"app":"chat","categories":1,"buttons":2,"clean":true,"findings":[]}"#)
    }

    @Test("names what was tapped and never registered, and where else it is; retired ones are only worth a look")
    func unregistered() throws {
        defer { database.drop() }
        try app.register(
            Category(id: "INFO", buttons: [.titled("VIEW"), .titled("OLD")]),
            Category(id: "RAID", buttons: [.titled("JOIN")]))
        try app.register(
            Category(id: "INFO", buttons: [.titled("VIEW")]), Category(id: "RAID", buttons: [.titled("JOIN")]))
        let tomorrow: String = try database.value("SELECT ((now() AT TIME ZONE 'UTC')::date + 1)::text")
        try app.tapped("INFO", "VIEW", 50)
        try app.tapped("INFO", "JOIN", 2, taps: 3, day: "2026-11-21")
        try app.tapped("INFO", "JOIN", 1)
        try app.tapped("SALE", "BUY", 5)
        try app.tapped("SALE", "VIEW", 1)
        try app.tapped("", "VIEW", 7)
        // Before it was retired there was nothing wrong with it.
        try app.tapped("INFO", "OLD", 90, day: "2026-01-01")
        #expect(
            try findings() == [
                "unregistered unregistered_category SALE 6 taps 2026-11-20",
                "unregistered unregistered_action INFO/JOIN 4 taps 2026-11-20",
                "warning no_category  7 taps 2026-11-20",
            ])
        try app.tapped("INFO", "OLD", 8, day: tomorrow)
        #expect(try findings().contains("warning retired_action_tapped INFO/OLD 8 taps \(tomorrow)"))
        let details = try app.check().findings.map(\.detail)
        #expect(
            details.prefix(2) == [
                #"the category was never registered; its buttons tapped: "BUY", "VIEW". Registered in "INFO""#,
                #"the category never had this button. Registered in "RAID""#,
            ])
    }

    @Test("names taps that contradict every edition; what an earlier one said is an old version of the app")
    func contradictions() throws {
        defer { database.drop() }
        func buttons(_ count: Int, _ activation: Button.Activation) -> [Button] {
            (0..<count).map { place in
                Button(
                    id: "A\(place)", titles: [.init("en", "A")], activation: activation, destructive: false,
                    authenticationRequired: false, textInput: false)
            }
        }
        try app.register(Category(id: "INFO", buttons: buttons(2, .background)))
        try app.register(Category(id: "INFO", buttons: buttons(3, .foreground)))
        try log(
            "INFO", ActionTap(actionID: "A0", actionIndex: 0, actionCount: 2, activation: .background),
            ActionTap(actionID: "A0", actionIndex: 0, actionCount: 3, activation: .foreground))
        #expect(try findings() == [])
        try log(
            "INFO", ActionTap(actionID: "A1", actionIndex: 4, actionCount: 5),
            ActionTap(actionID: "A1", actionIndex: 4),
            ActionTap(actionID: "A2", activation: .background, destructive: true),
            ActionTap(actionID: "A2", authenticationRequired: true, textInput: true),
            // Another day is another matter: of what is not registered only that is said.
            ActionTap(actionID: "ZZ", actionIndex: 9, actionCount: 9))
        #expect(
            try findings() == [
                "impossible action_index INFO/A1 2 taps 2026-11-20",
                "impossible activation INFO/A2 1 taps 2026-11-20",
                "impossible authentication_required INFO/A2 1 taps 2026-11-20",
                "impossible destructive INFO/A2 1 taps 2026-11-20", "impossible text_input INFO/A2 1 taps 2026-11-20",
                "impossible action_count INFO 1 taps 2026-11-20",
            ])
        let check = try app.check()
        #expect(
            check.findings.map(\.detail) == [
                "taps say that it is button 5, the registration says 2",
                "taps say background, the registration says foreground",
                "taps say that it needs the phone unlocked, the registration says that it does not",
                "taps say that it shows as destructive, the registration says that it does not",
                "taps say that it takes text, the registration says that it does not",
                "taps say that there are 5 buttons, the registration has 2 or 3",
            ])
        #expect(!check.isClean)
        // Taps from before are not looked at.
        #expect(try app.check(since: Event.sampleTime + 1_000_000).findings == [])
    }

    @Test("names what is odd in the registry and in what was shown")
    func oddities() throws {
        defer { database.drop() }
        try app.register(
            Category(id: "INFO", buttons: (0..<5).map { .titled("A\($0)") }, compactActions: ["A0", "NONE"]),
            Category(id: "PLAIN"),
            Category(id: "SHOWN", buttons: [.titled("A")], customDismiss: true, contentExtension: true),
            Category(id: "RARE", buttons: [.titled("A")], customDismiss: true, contentExtension: true))
        try app.register(Category(id: "PLAIN"), set: .hive)
        // Of a hundred deliveries one is no alarm.
        try app.insert(
            "category_funnel",
            ["category": try app.word(.category, "RARE"), "delivered": 300, "media_attached": 3])
        for category in ["INFO", "PLAIN", "OTHER", "SHOWN"] {
            let word = try app.word(.category, category)
            for (day, count) in [("2026-11-20", 1), ("2026-11-21", 2)] {
                try app.insert(
                    "category_funnel", day: day,
                    [
                        "category": word, "delivered": 9, "dismissed": count, "expanded": 3 * count,
                        "media_attached": 2 * count,
                    ])
            }
            try app.insert(
                "media_funnel", ["category": word, "kind": 3, "network": 1, "outcome": 1, "deliveries": 7])
        }
        try app.insert(
            "media_funnel",
            [
                "category": try app.word(.category, "INFO"), "kind": 3, "network": 1, "outcome": 4,
                "deliveries": 70,
            ])
        #expect(
            try findings() == [
                "impossible expanded_without_content_extension INFO 9 deliveries 2026-11-20",
                "impossible dismissed_without_custom_dismiss INFO 3 deliveries 2026-11-20",
                "impossible unknown_compact_action INFO/NONE", "warning audio_media PLAIN 7 deliveries 2026-11-20",
                "warning media_with_buttons SHOWN 6 deliveries 2026-11-20", "warning many_buttons INFO",
                "warning two_sets PLAIN",
            ])
        #expect(
            try app.check().text.contains(
                "\n    Use media or buttons: the content extension shows the buttons, and only a thumbnail of the media.\n"
            ))
    }
}
