import Testing

@testable import Registry

@Suite("A document of our own shape")
struct OwnShapeTests {
    @Test("is read with all its members")
    func whole() throws {
        let document = try CategoryDocument(
            Array(
                #"""
                {"categories": [
                  {"id": "INFO_CATEGORY",
                   "actions": [
                     {"id": "VIEW", "titles": {"de": "Ansehen", "en": "View"}, "activation": "foreground",
                      "destructive": false, "authentication_required": true, "text_input": false, "answer": "accept"},
                     {"id": "CLOSE", "titles": {"fr": "Fermer", "de": "Schließen"}, "answer": "close"}],
                   "compact_actions": ["VIEW"], "intent_identifiers": ["INSendMessageIntent"],
                   "custom_dismiss": true, "content_extension": true, "category_summary_format": "%u more",
                   "hidden_previews_body_placeholder": "%u messages"},
                  {"id": "PLAIN", "custom_dismiss": null, "category_summary_format": ""}
                ]}
                """#.utf8))
        #expect(document.set == .own)
        #expect(document.warnings == [])
        #expect(
            document.categories == [
                Category(
                    id: "INFO_CATEGORY",
                    buttons: [
                        Button(
                            id: "VIEW", titles: [.init("de", "Ansehen"), .init("en", "View")], activation: .foreground,
                            destructive: false, authenticationRequired: true, textInput: false, answer: .accept),
                        Button(id: "CLOSE", titles: [.init("fr", "Fermer"), .init("de", "Schließen")], answer: .close),
                    ], compactActions: ["VIEW"], intentIdentifiers: ["INSendMessageIntent"], customDismiss: true,
                    contentExtension: true, summaryFormat: "%u more", hiddenPreviewsPlaceholder: "%u messages",
                    path: "categories[0]"),
                Category(id: "PLAIN", path: "categories[1]"),
            ])
        #expect(document.categories[0].buttons.map(\.title) == ["View", "Fermer"])
    }

    @Test(
        "is refused with the path and what is wrong there",
        arguments: [
            (#"{"categories": [7]}"#, "categories[0]: must be an object, not a number"),
            (#"{"categories": [{}]}"#, "categories[0].id: is required"),
            (#"{"categories": [{"id": null}]}"#, "categories[0].id: is required"),
            (#"{"categories": [{"id": 7}]}"#, "categories[0].id: must be a string, not a number"),
            (#"{"categories": [], "more": 1}"#, "more: unknown member; the members here are categories"),
            (#"{"categories": [], "categories": []}"#, "categories: is given twice"),
            (
                #"{"categories": [{"id": "A"}, {"id": "A"}]}"#,
                #"categories[1].id: "A" is already the id of categories[0]"#
            ),
            (own(#""id": "B""#), "categories[0].id: is given twice"),
            (own(#""custom_dismiss": 1"#), "categories[0].custom_dismiss: must be true or false, not a number"),
            (
                own(#""content_extension": "yes""#),
                "categories[0].content_extension: must be true or false, not a string"
            ),
            (own(#""actions": {}"#), "categories[0].actions: must be an array, not an object"),
            (own(#""intent_identifiers": ["A", "A"]"#), #"categories[0].intent_identifiers[1]: "A" is given twice"#),
            (
                own(#""category_summary_format": "a\nb""#),
                "categories[0].category_summary_format: must not contain control characters"
            ),
            (
                own(#""actions": [{"id": "A"}]"#),
                "categories[0].actions[0].titles: is required: the button's titles by language"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {"en": "A"}}, {"id": "A", "titles": {"en": "B"}}]"#),
                #"categories[0].actions[1].id: "A" is already the id of categories[0].actions[0]"#
            ),
            (
                button(#""activation": "front""#),
                #"categories[0].actions[0].activation: must be one of foreground, background, not "front""#
            ),
            (
                button(#""answer": true"#),
                "categories[0].actions[0].answer: must be one of accept, decline, later, close, not a boolean"
            ),
            (
                button(#""destructive": "no""#),
                "categories[0].actions[0].destructive: must be true or false, not a string"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {}}]"#),
                "categories[0].actions[0].titles: must have at least one title"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {"en": ""}}]"#),
                "categories[0].actions[0].titles.en: must not be blank"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {"en": "A", "en": "B"}}]"#),
                "categories[0].actions[0].titles.en: is given twice"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {"en": "A", "EN": "B"}}]"#),
                "categories[0].actions[0].titles.EN: is given twice"
            ),
            (
                own(#""actions": [{"id": "A", "titles": {"not a language": "A"}}]"#),
                #"categories[0].actions[0].titles["not a language"]: a language is written as en, pt-BR or zh-Hans"#
            ),
        ])
    func refused(_ text: String, _ error: String) {
        #expect(errors(text) == [error])
    }

    @Test("is refused where there is too much of something")
    func tooMuch() {
        let ids = (0...1000).map { #"{"id": "C\#($0)"}"# }.joined(separator: ",")
        #expect(errors(#"{"categories": [\#(ids)]}"#) == ["categories: has 1001 elements, at most 1000 are allowed"])
        let actions = (0...10).map { #"{"id": "A\#($0)", "titles": {"en": "A"}}"# }.joined(separator: ",")
        #expect(
            errors(own(#""actions": [\#(actions)]"#)) == [
                "categories[0].actions: has 11 elements, at most 10 are allowed"
            ])
        let title = String(repeating: "x", count: 513)
        #expect(
            errors(own(#""actions": [{"id": "A", "titles": {"en": "\#(title)"}}]"#)) == [
                "categories[0].actions[0].titles.en: has 513 bytes, at most 512 are allowed"
            ])
        let languages = (0...64).map {
            #""l\#(String(UnicodeScalar(UInt8(97 + $0 / 26))))\#(String(UnicodeScalar(UInt8(97 + $0 % 26))))": "x""#
        }
        .joined(separator: ",")
        #expect(
            errors(own(#""actions": [{"id": "A", "titles": {\#(languages)}}]"#)) == [
                "categories[0].actions[0].titles: has 65 members, at most 64 are allowed"
            ])
        #expect(errors(String(repeating: " ", count: 1024 * 1024 + 1)) == ["the document has more than 1048576 bytes"])
    }

    @Test("warns of what works and is hardly meant")
    func warnings() throws {
        func warnings(_ text: String) throws -> [String] {
            try CategoryDocument(Array(text.utf8)).warnings.map(\.description)
        }
        let actions = (0..<5).map { #"{"id": "A\#($0)", "titles": {"en": "A"}}"# }.joined(separator: ",")
        #expect(
            try warnings(own(#""actions": [\#(actions)], "compact_actions": ["A0", "A1", "NONE"]"#)) == [
                "categories[0].actions: has 5 actions; hardly anybody sees more than 4",
                #"categories[0].compact_actions[2]: "NONE" is not an action of this category"#,
                "categories[0].compact_actions: has 3 actions; a banner shows 2",
            ])
        #expect(
            try warnings(#"{"categories": []}"#) == [
                "categories: it is empty: everything that this set had registered is retired"
            ])
    }

    @Test("tells all that is wrong with it at once, the first fifty in full")
    func allAtOnce() throws {
        #expect(
            errors(#"{"categories": [{"id": "", "x": 1}, {"id": "B", "actions": [{"id": "C\u0007"}]}], "y": 2}"#) == [
                "y: unknown member; the members here are categories",
                "categories[0].x: unknown member; the members here are id, actions, compact_actions, intent_identifiers, custom_dismiss, content_extension, category_summary_format, hidden_previews_body_placeholder",
                "categories[0].id: must not be empty",
                "categories[1].actions[0].id: must not contain control, invisible or direction-changing characters (here U+0007)",
                "categories[1].actions[0].titles: is required: the button's titles by language",
            ])
        let error = #expect(throws: RegistryDocumentError.self) {
            try CategoryDocument(Array("{\"categories\": [\((0..<80).map { "\($0)" }.joined(separator: ","))]}".utf8))
        }
        guard case .invalid(let told, let more) = try #require(error) else {
            Issue.record("another error")
            return
        }
        #expect(told.count == 50 && more == 30)
        #expect(error?.description.hasPrefix("80 errors, nothing was imported:\n  categories[0]: must be") == true)
        #expect(error?.description.hasSuffix("\n  and 30 more") == true)
    }
}
