import Testing

@testable import Registry

@Suite("A document of categories")
struct CategoryDocumentTests {
    @Test("that is no document at all is refused for what it is")
    func unreadable() {
        #expect(errors("[]") == ["the document must be an object, not an array"])
        #expect(errors("") == ["the document is not well-formed JSON in UTF-8: there is nothing (byte 0)"])
        #expect(
            errors(#"{"categories": [}"#) == [
                "the document is not well-formed JSON in UTF-8: a value is expected here (byte 16)"
            ])
        let neither =
            "it has neither of the two shapes: ours has an array 'categories', hive_push_actions.json has objects 'actions' and 'categories'"
        for text in ["{}", #"{"categories": 7}"#, #"{"categories": null}"#, #"{"events": []}"#] {
            #expect(errors(text) == [neither], "\(text)")
        }
    }

    @Test("with what nothing can hold is refused by its place")
    func misfits() {
        #expect(
            errors(own(#""category_summary_format": "\ud800""#)) == [
                "categories[0].category_summary_format: a string must not contain a lone surrogate"
            ])
        #expect(
            errors(own(#""custom_dismiss": 1e999"#)) == [
                "categories[0].custom_dismiss: every number must fit 64 bits or a double"
            ])
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(errors(own(#""actions": \#(deep)"#)).count == 1)
    }

    @Test(
        "takes identifiers that people can tell apart and type",
        arguments: [
            ("INFO_CATEGORY", nil), ("com.example.raid-1", nil), ("Über uns", nil), ("お知らせ", nil), ("🎉", nil),
            ("a/b:c", nil),
            ("", "must not be empty"), (" A", "must not begin or end with a space"),
            ("A ", "must not begin or end with a space"),
            (#"A\"B"#, "must not contain a quote or backslash"), ("A'B", "must not contain a quote or backslash"),
            ("A`B", "must not contain a quote or backslash"), (#"A\\B"#, "must not contain a quote or backslash"),
            ("A\u{00A0}B", "00A0"), ("A\u{200B}B", "200B"), ("A\u{202E}B", "202E"), ("A\u{FEFF}", "FEFF"),
            ("A\u{2028}B", "2028"), ("A\u{7F}B", "007F"), ("A\u{FE0F}", "FE0F"), ("A\u{3164}", "3164"),
            (#"A\u0000B"#, "0000"), (#"A\tB"#, "0009"), (String(repeating: "é", count: 128), nil),
            (String(repeating: "é", count: 128) + "x", "has 257 bytes, at most 256 are allowed"),
        ] as [(String, String?)])
    func identifiers(_ id: String, _ fault: String?) {
        let found = errors(#"{"categories": [{"id": "\#(id)"}]}"#)
        guard let fault else { return #expect(found == []) }
        let detail =
            fault.count == 4
            ? "must not contain control, invisible or direction-changing characters (here U+\(fault))" : fault
        #expect(found == ["categories[0].id: \(detail)"])
    }

    @Test("is refused in no time, whatever a stranger puts into it")
    func hostile() {
        let keys = (0..<90_000).map { #""k\#($0)":1"# }.joined(separator: ",")
        #expect(errors("{\(keys),\"categories\":[]}").count == 50)
        let twice = String(repeating: #""id":"A","#, count: 100_000)
        #expect(errors("{\"categories\":[{\(twice)\"id\":\"A\"}]}").count == 50)
        let languages = String(repeating: #""en":"A","#, count: 100_000)
        #expect(
            errors(#"{"actions":{"A":{\#(languages)"en":"A"}},"categories":{"X":["A"]}}"#) == [
                "actions.A: has 100001 members, at most 16 are allowed"
            ])
        #expect(errors(#"{"categories": [{"\#(String(repeating: "x", count: 500_000))": 1}]}"#)[0].utf8.count < 400)
    }

    @Test("comes with the program for what libraries bring along")
    func presets() throws {
        let stories = Preset.pushwooshStories.document
        #expect(stories.set == .presetPushwooshStories)
        #expect(stories.categories == [Category(id: "PW_STORIES", contentExtension: true)])
        let hive = Preset.hive.document
        #expect(hive.set == .presetHive)
        #expect(hive.categories.allSatisfy(\.contentExtension) && hive.warnings.isEmpty)
        let listed = hive.categories.map { category in
            "\(category.id): "
                + category.buttons.map { "\($0.id) \($0.title ?? "-") \($0.answer?.rawValue ?? "-")" }.joined(
                    separator: ", ")
        }
        #expect(
            listed == [
                "INFO_CATEGORY: CONFIRM_ID Confirm accept", "CLOSE_CATEGORY: CLOSE_ID Close close",
                "CONFIRM_CATEGORY: CONFIRM_ID Confirm accept, CLOSE_ID Close close",
                "EXECUTE_CATEGORY: EXECUTE_ID Execute accept, CANCEL_ID Cancel close",
                "ACCEPT_ALL_CATEGORY: ACCEPT_ALL_ID Accept all accept, CLOSE_ID Close close",
                "ACCEPT_NOW_CATEGORY: ACCEPT_NOW_ID Claim now accept, CLOSE_ID Close close",
                "PURCHASE_CATEGORY: PURCHASE_ID Buy accept, DECLINE_ID Decline decline",
                "SALE_CATEGORY: SALE_ID Sell accept, DECLINE_ID Decline decline",
                "ACCEPT_DECISION_CATEGORY: ACCEPT_ID Accept accept, REJECT_ID Reject decline, HOLDING_ID Hold later",
            ])
    }
}
