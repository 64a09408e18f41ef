import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing
import Values

@Suite("Decoding: rejections")
struct RejectionTests {
    @Test(
        "an event is refused alone, with its reason and the path of what is wrong",
        arguments: [
            // No object.
            ("7", .notAnObject, "events[1]:"), ("null", .notAnObject, "events[1]:"), ("[]", .notAnObject, "events[1]:"),
            (#""{}""#, .notAnObject, "events[1]:"),
            // Absent, null, empty, or the last of them so.
            ("{}", .missingField, "events[1].id:"),
            (EventText().with("id", nil).text, .missingField, "events[1].id:"),
            (EventText().with("id", "null").text, .missingField, "events[1].id:"),
            (EventText().with("id", "\"\"").text, .missingField, "events[1].id:"),
            (EventText().appending(#""id":null"#), .missingField, "events[1].id:"),
            (EventText().with("type", nil).text, .missingField, "events[1].type:"),
            (EventText().with("type", "\"\"").text, .missingField, "events[1].type:"),
            (EventText().with("at", "null").text, .missingField, "events[1].at:"),
            (EventText().with("at", "\"\"").text, .missingField, "events[1].at:"),
            // Ids.
            (EventText(id: "x").text, .invalidID, "events[1].id:"),
            (EventText().with("id", "7").text, .invalidID, "events[1].id:"),
            (EventText().with("id", "{}").text, .invalidID, "events[1].id:"),
            (EventText(id: "0199f1c27c1e7d0ab1c43f0a6f1b2c3d").text, .invalidID, "events[1].id:"),
            // Types.
            (EventText("notification.seen").text, .unknownType, "events[1].type:"),
            (EventText("Notification.Received").text, .unknownType, "events[1].type:"),
            (EventText().with("type", "1").text, .unknownType, "events[1].type:"),
            (EventText().with("type", "[\"notification.opened\"]").text, .unknownType, "events[1].type:"),
            // Times.
            (EventText().with("at", "\"yesterday\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "\"2026-11-20T09:30:10\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "true").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "\"1763631012412\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "\"1999-12-31T23:59:59.999999Z\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "\"9999-12-31T23:59:59-00:01\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "\"2000-01-01T00:00:00+00:01\"").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "253402300800000").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "0").text, .invalidTime, "events[1].at:"),
            (EventText().with("at", "18446744073709551615").text, .invalidTime, "events[1].at:"),
            // Notifications.
            (EventText().with("notification", nil).text, .missingNotification, "events[1].notification:"),
            (EventText().with("notification", "null").text, .missingNotification, "events[1].notification:"),
            (EventText().with("notification", "\"req-1\"").text, .missingNotification, "events[1].notification:"),
            (EventText().with("notification", "[]").text, .missingNotification, "events[1].notification:"),
            (EventText().with("notification", "{}").text, .missingNotification, "events[1].notification:"),
            (
                EventText().with("notification", #"{"id":"","delivery_id":null,"category":"c"}"#).text,
                .missingNotification, "events[1].notification:"
            ),
            (
                EventText().with("notification", #"{"id":"a","id":null}"#).text, .missingNotification,
                "events[1].notification:"
            ),
        ] as [(String, RejectionReason, String)])
    func reasons(event: String, reason: RejectionReason, path: String) throws {
        let rejection = try #require(try decodeAmongNeighbours(event).rejection)
        #expect(rejection.reason == reason, "\(event)")
        #expect(rejection.detail.hasPrefix(path), "\(rejection.detail)")
    }

    @Test("an unknown type is answered with the types that there are")
    func types() throws {
        let detail = try #require(try decodeAmongNeighbours(EventText("notification.tapped").text).rejection?.detail)
        #expect(detail.hasSuffix("not “notification.tapped”"))
        for type in EventType.allCases { #expect(detail.contains(type.name), "\(type)") }
    }

    @Test(
        "a time in another unit is answered with what to do",
        arguments: [
            ("1795167010", "seconds: multiply by 1000"), ("1795167010.25", "seconds: multiply by 1000"),
            ("1795167010000000", "microseconds: divide by 1000"),
            ("1795167010000000000", "nanoseconds: divide by 1000000"), ("0", nil), ("-1795167010", nil),
            ("\"yesterday\"", nil), ("1e300", nil),
        ] as [(String, String?)])
    func units(at: String, hint: String?) throws {
        let detail = try #require(try decodeAmongNeighbours(EventText().with("at", at).text).rejection?.detail)
        if let hint {
            #expect(detail.hasSuffix("; this looks like \(hint)"))
        } else {
            #expect(detail.hasSuffix("in the years 2000 to 9999"))
        }
    }

    @Test("the reasons come in their order: mending one fault shows the next")
    func order() throws {
        // All faults at once, then fewer and fewer.
        let long = "\"\(String(repeating: "x", count: 40_000))\""
        var event = EventText("story.started").with("id", "null").with("type", "7").with("at", "false")
            .with("notification", "5").with("page_count", nil).with("seq", "-1").with("filler", long)
        let steps: [(key: String, value: String?)] = [
            ("filler", "\"x\""), ("id", "\"no\""), ("id", "\"\(install)\""), ("type", "\"story.started\""),
            ("at", "\"2026-11-20T09:30:10Z\""), ("notification", #"{"id":5}"#), ("page_count", "3"),
            ("notification", #"{"id":"a"}"#), ("seq", "1"),
        ]
        var reasons: [RejectionReason?] = []
        for step in steps {
            reasons.append(try decodeAmongNeighbours(event.text).rejection?.reason)
            event = event.with(step.key, step.value)
        }
        reasons.append(try decodeAmongNeighbours(event.text).rejection?.reason)
        #expect(
            reasons == [
                .tooLarge, .missingField, .invalidID, .unknownType, .invalidTime, .missingNotification, .missingField,
                .invalidField, .invalidField, nil,
            ])
    }

    @Test("the reasons come in their order also where no notification is needed")
    func orderWithoutNotification() throws {
        var event = EventText("permission.changed").with("id", "7").with("at", "false").with("authorization", nil)
            .with("previous", "7").with("notification", "{}")
        var reasons: [RejectionReason?] = []
        for (key, value) in [
            ("id", "\"\(install)\""), ("at", "1795167010000"), ("authorization", "7"), ("authorization", "\"new\""),
            ("previous", "\"denied\""),
        ] {
            reasons.append(try decodeAmongNeighbours(event.text).rejection?.reason)
            event = event.with(key, value)
        }
        reasons.append(try decodeAmongNeighbours(event.text).rejection?.reason)
        #expect(reasons == [.invalidID, .invalidTime, .missingField, .invalidField, .invalidField, nil])
        let lonely = try decode(envelope([event.with("authorization", nil).text], source: "{}")).items[0].rejection
        #expect(lonely?.detail.contains("install_id") == true)
    }

    @Test("a rejected event is answered with its id where that can be read")
    func rejectedID() throws {
        let id = try #require(UUID(install))
        #expect(try decodeAmongNeighbours(EventText("no.such", id: install).text).rejectedID == id)
        #expect(try decodeAmongNeighbours(EventText(id: install).with("seq", "1e400").text).rejectedID == id)
        #expect(try decodeAmongNeighbours(EventText(id: "no").text).rejectedID == nil)
    }

    @Test("a rejected event is kept with its install: its own source's, else the envelope's, whatever else is wrong")
    func rejectedInstall() throws {
        let (mine, theirs) = ("0199f1c2-7c1e-7d0a-b1c4-000000000001", try #require(UUID(install)))
        let own = EventText().with("source", "{\"install_id\":\"\(mine)\",\"platform\":7}")
        let changes: [EventText] = [
            own, own.with("id", nil), own.with("type", "\"no.such\""), own.with("seq", "1e400"),
            own.with("filler", "\"\(String(repeating: "x", count: 33_000))\""), own.with("notification", nil),
        ]
        for event in changes {
            let item = try decodeAmongNeighbours(event.text)
            #expect(item.rejection != nil && item.rejectedInstall?.description == mine)
        }
        for source in ["7", "{}", "{\"install_id\":\"no\"}", "{\"install_id\":null}"] {
            let event = EventText("no.such").with("source", source)
            #expect(try decodeAmongNeighbours(event.text).rejectedInstall == theirs)
        }
        #expect(try decodeAmongNeighbours("7").rejectedInstall == theirs)
        let wrong = try decode(
            envelope([EventText().text], source: "{\"install_id\":\"\(install)\",\"platform\":7}"))
        #expect(wrong.items[0].rejectedInstall == theirs && wrong.installID == theirs)
        #expect(try decode(envelope(["7"], source: nil)).items[0].rejectedInstall == nil)
    }

    @Test("a detail is bounded and shows nothing that could do harm")
    func details() throws {
        let type = "evil\\u0000\\u001b[31m" + String(repeating: "ü", count: 500)
        let detail = try #require(try decodeAmongNeighbours(EventText(type).text).rejection?.detail)
        #expect(detail.utf8.count < 400)
        #expect(detail.hasPrefix("events[1].type:"))
        #expect(detail.contains("evil\u{fffd}\u{fffd}[31mü"))
        #expect(!detail.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test("an event of 32 KiB is taken, one byte more is too large, spaces and all")
    func tooLarge() throws {
        func event(bytes: Int) -> String {
            let text = EventText().appending(#""filler":"""#)
            return EventText().appending(#""filler":"\#(String(repeating: "x", count: bytes - text.utf8.count))""#)
        }
        #expect(
            try decodeAmongNeighbours(event(bytes: 32 * 1024)).event?.extraText?.hasPrefix(#"{"_dropped":"#) == true)
        #expect(try decodeAmongNeighbours(event(bytes: 32 * 1024 + 1)).rejection?.reason == .tooLarge)
        let spaced = "{" + String(repeating: " ", count: 33_000) + EventText().text.dropFirst()
        #expect(try decodeAmongNeighbours(spaced).rejection?.reason == .tooLarge)
        let number = String(repeating: "7", count: 40_000)
        #expect(try decodeAmongNeighbours(number).rejection?.reason == .notAnObject)
    }

    @Test("the raw event is given as it stands, cut at 32 KiB between two characters")
    func raw() throws {
        for letter in ["x", "é", "€", "😀"] {
            for shift in 0..<4 {
                let start = #"{"k":""# + String(repeating: "-", count: shift)
                let event = start + String(repeating: letter, count: 40_000) + "\"}"
                let decoded = try decode(envelope([EventText().text, event]))
                let raw = decoded.raw.event(1)
                #expect(decoded.items[1].rejection?.reason == .tooLarge)
                #expect((32 * 1024 - 3...32 * 1024).contains(raw.count))
                let text = try #require(String(validating: raw, as: UTF8.self))
                #expect(event.hasPrefix(text))
                #expect(decoded.rawEvent(0) == EventText().text)
            }
        }
    }

    @Test("what is well-formed but cannot be held rejects its event alone", arguments: unholdable)
    func misfits(event: String) throws {
        let rejection = try #require(try decodeAmongNeighbours(event).rejection)
        #expect(rejection.reason == .invalidField)
        #expect(rejection.detail.hasPrefix("events[1]"))
    }

    private static let unholdable: [String] = {
        let deep = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        let abyss = String(repeating: #"{"a":"#, count: 5000) + "1" + String(repeating: "}", count: 5000)
        let values = [
            "1e400", "-1e400", "18446744073709551616", "-9223372036854775809", String(repeating: "9", count: 300),
            #""\ud800""#, #""\udc00\ud800""#, #""a\u0000b""#, #"["\u0000"]"#, #"{"k\u0000":1}"#, #"{"\ud800":1}"#, deep,
            abyss,
        ]
        return values.map { EventText().with("unknown", $0).text }
            + values.map { EventText().with("text", "\"\"").appending("\"x\":\($0)") }
            + values.map { EventText().with("notification", "{\"id\":\"a\",\"x\":\($0)}").text }
            + values.map { EventText().appending("\"via\":\($0),\"via\":\"foreground\"") }
            + values.map { EventText().with("source", "{\"x\":\($0)}").text }
            + values.map { EventText("notification.opened").with("media", $0).text }
            + [
                EventText().appending(#""k\u0000":1"#), EventText().appending(#""\udc00":1"#),
                EventText().with("notification", #"{"id":"a\u0000"}"#).text,
                EventText().with("notification", #"{"id":"\ud83d"}"#).text, EventText().with("seq", "1e999").text,
                EventText("action.tapped").with("action_id", #""\u0000""#).text,
            ]
    }()

    @Test(
        "what a person typed is not held, so it may be what cannot be",
        arguments: [
            #""hi \ud83d""#, #""a\u0000b""#, "1e400", #"{"k\u0000":[18446744073709551616]}"#,
            String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000),
        ])
    func freeText(value: String) throws {
        for event in [
            EventText().with("text", value), EventText().with("zz", "{\"input\":\(value),\"a\":[1]}"),
            EventText().with("notification", "{\"id\":\"a\",\"user_text\":\(value),\"x\":1}"),
            EventText().with("source", "{\"reply\":\(value)}"),
        ] {
            #expect(try decodeAmongNeighbours(event.text).rejection == nil)
        }
        let extra = try decodeAmongNeighbours(EventText().with("zz", "{\"input\":\(value),\"a\":[1]}").text).event?
            .extraText
        #expect(extra == #"{"zz":{"a":[1]}}"#)
        let decoded = try decode(
            envelope([EventText().text], source: "{\"install_id\":\"\(install)\",\"reply\":\(value)}"))
        #expect(decoded.items[0].event != nil)
        // Beside it, what is held is looked at all the same.
        let rejection = try decodeAmongNeighbours(EventText().with("text", value).appending(#""y":"\udc00""#)).rejection
        #expect(rejection?.detail == "events[1].y: it contains a string with a lone surrogate")
    }

    @Test(
        "the refusal of what cannot be held names the member by its path",
        arguments: [
            (EventText().with("unknown", #"[1, {"a": 1e400}]"#).text, "events[1].unknown[1].a: it contains a number"),
            (EventText().with("seq", "1e999").text, "events[1].seq: it contains a number"),
            (
                EventText().with("notification", #"{"id":"a\\u0000\u0000"}"#).text,
                "events[1].notification.id: it contains a string with the character U+0000"
            ),
            (
                EventText().with("notification", #"{"id":"\ud83d"}"#).text,
                "events[1].notification.id: it contains a string with"
            ),
            (EventText().appending(#""k\u0000":1"#), #"events[1].k\u0000: it contains a string with the character"#),
            (
                EventText().with(
                    "x", "{\"y\":" + String(repeating: "[", count: 40) + String(repeating: "]", count: 40) + "}"
                )
                .text, "events[1].x.y[0][0][0][0][0][0]: it is nested more than 32 levels"
            ),
            (EventText().with("x", #"{"\u202e\"é": 1e400}"#).text, #"events[1].x.\u202e\"??: it contains a number"#),
        ])
    func misfitPath(event: String, detail: String) throws {
        let rejection = try #require(try decodeAmongNeighbours(event).rejection)
        #expect(rejection.detail.hasPrefix(detail), "\(rejection.detail)")
    }

    @Test("32 levels of nesting are taken, the event being the first")
    func nesting() throws {
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(try decodeAmongNeighbours(EventText().with("x", deep).text).event?.extraText == "{\"x\":\(deep)}")
        #expect(try decodeAmongNeighbours(EventText().with("x", "[\(deep)]").text).rejection?.reason == .invalidField)
    }

    @Test("what cannot be held keeps the order of the reasons")
    func misfitOrder() throws {
        for (event, reason) in [
            (EventText().with("id", "1e400"), .invalidID), (EventText().with("id", #""\ud800""#), .invalidID),
            (EventText().with("type", #""\ud800""#), .unknownType), (EventText().with("at", "1e400"), .invalidTime),
            (EventText().with("at", nil).with("x", "1e400"), .missingField),
            (EventText().with("notification", "1e400"), .missingNotification),
            (EventText("story.started").with("page_count", nil).with("x", "1e400"), .missingField),
            (EventText("story.started").with("page_count", "1e400"), .invalidField),
        ] as [(EventText, RejectionReason)] {
            #expect(try decodeAmongNeighbours(event.text).rejection?.reason == reason, "\(event.text)")
        }
        #expect(try decodeAmongNeighbours("1e400").rejection?.reason == .notAnObject)
    }
}
