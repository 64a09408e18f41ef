import Accounts
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@testable import Registry

@Suite("Registering categories")
struct RegistrarTests {
    private let database: TestDatabase
    private let app: TestApp

    init() throws {
        database = try TestDatabase.make()
        app = try database.makeApp()
    }

    private static let info = Category(
        id: "INFO", buttons: [.titled("VIEW"), .titled("CLOSE", answer: .close)], compactActions: ["VIEW"],
        intentIdentifiers: ["INSendMessageIntent"], customDismiss: true, contentExtension: true,
        summaryFormat: "%u more",
        hiddenPreviewsPlaceholder: "%u messages")

    private func changes() throws -> [String] {
        try database.column(
            """
            SELECT format('%s: %s %s/%s', number, CASE WHEN is_registered THEN '+' ELSE '-' END, category, action_id)
            FROM registry.change
            ORDER BY number, is_registered DESC, category COLLATE "C", action_id COLLATE "C"
            """)
    }

    @Test("keeps everything that was said, and shows it")
    func whole() throws {
        defer { database.drop() }
        let registration = try app.register(
            #"""
            {"categories": [{"id": "INFO", "actions": [
                {"id": "VIEW", "titles": {"de": "Ansehen", "en": "View"}, "activation": "foreground", "destructive": false,
                 "authentication_required": true, "text_input": false, "answer": "accept"},
                {"id": "CLOSE", "titles": {"fr": "Fermer", "de": "Schließen"}}],
              "compact_actions": ["VIEW"], "intent_identifiers": ["INSendMessageIntent"], "custom_dismiss": true,
              "content_extension": true, "category_summary_format": "%u more",
              "hidden_previews_body_placeholder": "%u messages"}]}
            """#)
        #expect(registration.edition == 1 && registration.categories == 1 && registration.buttons == 2)
        #expect(!registration.isUnchanged && registration.registeredButtons == 2 && registration.retiredButtons == 0)
        #expect(
            try app.rows(
                """
                category, category_set, edition, buttons, content_extension, custom_dismiss, compact_actions,
                intent_identifiers, category_summary_format, hidden_previews_body_placeholder,
                registered_at > now() - interval '1 hour', retired_at
                """, "categories", by: "1") == [
                    "(INFO,own,1,2,t,t,{VIEW},{INSendMessageIntent},\"%u more\",\"%u messages\",t,)"
                ])
        #expect(
            try app.rows(
                "position, action_id, title, titles, answer, registered_at IS NULL", "category_buttons", by: "1")
                == [
                    #"(1,VIEW,View,"{""de"": ""Ansehen"", ""en"": ""View""}",accept,f)"#,
                    #"(2,CLOSE,Fermer,"{""de"": ""Schließen"", ""fr"": ""Fermer""}",,f)"#,
                ])
        #expect(
            try database.column(
                """
                SELECT (activation, destructive, authentication_required, text_input)::text FROM registry.button
                ORDER BY position
                """) == ["(foreground,f,t,f)", "(,,,)"])
    }

    @Test("the same again makes no new edition, however it is written")
    func unchanged() throws {
        defer { database.drop() }
        try app.register(#"{"categories": [{"id": "INFO", "custom_dismiss": true}]}"#)
        let again = try app.register(#"{ "categories":[ {"custom_dismiss":true, "id":"INFO", "actions":[]} ] }"#)
        #expect(again.edition == 1 && again.isUnchanged)
        let other = try app.register(#"{"categories": [{"id": "INFO", "custom_dismiss": false}]}"#)
        #expect(other.edition == 2 && !other.isUnchanged)
        // What was registered before the last one is another thing again.
        #expect(try app.register(#"{"categories": [{"id": "INFO", "custom_dismiss": true}]}"#).edition == 3)
        #expect(try database.value("SELECT count(*) FROM registry.edition", as: Int64.self) == 3)
    }

    @Test("replaces its own set and no other, and writes down what is registered from when on, and what no longer is")
    func sets() throws {
        defer { database.drop() }
        try app.register(Self.info, Category(id: "OLD", buttons: [.titled("GO")]))
        try app.register(Category(id: "PW_STORIES", contentExtension: true), set: .presetPushwooshStories)
        let third = try app.register(
            Category(id: "INFO", buttons: [.titled("CLOSE", answer: .close), .titled("LATER", answer: .later)]))
        #expect(third.registeredButtons == 1 && third.retiredButtons == 2)
        #expect(
            try changes() == [
                "1: + INFO/", "1: + INFO/CLOSE", "1: + INFO/VIEW", "1: + OLD/", "1: + OLD/GO", "2: + PW_STORIES/",
                "3: + INFO/LATER", "3: - INFO/VIEW", "3: - OLD/", "3: - OLD/GO",
            ])
        #expect(
            try app.rows("category, edition, buttons, custom_dismiss, retired_at IS NULL", "categories", by: "1") == [
                "(INFO,3,2,f,t)", "(OLD,1,1,f,f)", "(PW_STORIES,2,0,f,t)",
            ])
        #expect(
            try app.rows("category, action_id, position, title, answer, verdict", "category_buttons", by: "1, 2") == [
                "(INFO,CLOSE,1,close,close,exposure_unknown)", "(INFO,LATER,2,later,later,exposure_unknown)",
                "(INFO,VIEW,1,view,,retired)", "(OLD,GO,1,go,,retired)",
            ])
        // And back: what was retired is registered again, from now on.
        try app.register(Self.info)
        #expect(try changes().suffix(2) == ["4: + INFO/VIEW", "4: - INFO/LATER"])
        let since: [String] = try database.column(
            """
            SELECT k.action_id || ' ' || e.number FROM registry.known_button AS k
            JOIN registry.edition AS e ON e.registered_at = k.registered_at
            WHERE k.category = 'INFO' ORDER BY k.action_id
            """)
        #expect(since == ["CLOSE 1", "LATER 3", "VIEW 4"])
    }

    @Test("an empty document retires everything of its set")
    func empty() throws {
        defer { database.drop() }
        try app.register(Self.info)
        let registration = try app.register(#"{"categories": []}"#)
        #expect(registration.retiredButtons == 2 && registration.warnings.count == 1)
        #expect(try app.rows("category, retired_at IS NULL", "categories", by: "1") == ["(INFO,f)"])
    }

    @Test(
        "a category that two sets have is as the newer import says, with a warning; without that one the older counts again"
    )
    func overlap() throws {
        defer { database.drop() }
        try app.register(Self.info)
        let hive = try app.register(#"{"actions": {"GO": {"en": "Go"}}, "categories": {"INFO": ["GO"]}}"#)
        #expect(
            hive.warnings == [
                Remark(
                    path: "categories.INFO",
                    detail: #""INFO" is also registered by the set 'own': the newer import counts"#)
            ])
        #expect(try app.rows("category, category_set, buttons", "categories", by: "1") == ["(INFO,hive,1)"])
        try app.register(#"{"actions": {}, "categories": {}}"#)
        #expect(try app.rows("category, category_set, buttons", "categories", by: "1") == ["(INFO,own,2)"])
        #expect(
            try changes() == [
                "1: + INFO/", "1: + INFO/CLOSE", "1: + INFO/VIEW", "2: + INFO/GO", "2: - INFO/CLOSE", "2: - INFO/VIEW",
                "3: + INFO/CLOSE", "3: + INFO/VIEW", "3: - INFO/GO",
            ])
    }

    @Test("apps have registries of their own")
    func apps() throws {
        defer { database.drop() }
        let other = try database.makeApp("shop")
        try app.register(Self.info)
        #expect(try other.register(Self.info).edition == 1)
        try other.register(Category(id: "ELSE"))
        #expect(try app.rows("category, edition, retired_at", "categories", by: "1") == ["(INFO,1,)"])
        #expect(try app.verdicts().count == 2)
    }

    @Test("imports at once follow one another, each whole")
    func concurrent() throws {
        defer { database.drop() }
        let ids = (0..<8).map { "C\($0)" }
        try together(ids.count) { number in
            let category = Category(id: ids[number], buttons: [.titled("A"), .titled("B")])
            try app.register(category)
        }
        let editions: [Int32] = try database.column("SELECT number FROM registry.edition ORDER BY number")
        #expect(editions == Array(1...8))
        // One set: each has retired what was there before, and the last one is what counts.
        let last: String = try database.value("SELECT category FROM registry.category WHERE number = 8")
        #expect(
            try database.column(
                "SELECT category FROM registry.latest_change WHERE action_id = '' AND is_registered") == [last])
    }

    @Test("what was registered is changed and taken away by nobody, the owner included")
    func appendOnly() throws {
        defer { database.drop() }
        try app.register(Self.info)
        var owner = try database.connect()
        for table in ["edition", "category", "button", "change"] {
            for script in [
                "UPDATE registry.\(table) SET app = app", "DELETE FROM registry.\(table)",
                "TRUNCATE registry.\(table) CASCADE",
            ] {
                let error = #expect(throws: PostgresError.self, "\(script)") { try owner.execute(script: script) }
                #expect(error?.state == .insufficientPrivilege, "\(script)")
            }
        }
    }

    @Test("a thousand categories of ten buttons are registered, and read")
    func large() throws {
        defer { database.drop() }
        let categories = (0..<1000).map { number in
            Category(id: "C\(number)", buttons: (0..<10).map { .titled("A\($0)") }, contentExtension: true)
        }
        var connection = try database.session(.ingest)
        for set in [CategorySet.own, .hive, .own] {
            let part = set == .hive ? Array(categories.prefix(500)) : categories
            let registration = try Registrar.register(
                CategoryDocument(set: set, categories: part), of: app.id, on: &connection)
            #expect(registration.buttons == part.count * 10)
        }
        #expect(try app.verdicts().count == 10_000)
    }
}
