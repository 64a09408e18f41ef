import Ingestion
import Telemetry
import Testing

@Suite("Decoding: members")
struct MemberTests {
    @Test("every member of every type is read")
    func interactions() throws {
        let cases: [(EventText, Interaction)] = [
            (
                EventText().with("via", "\"foreground\"").with("presentation", #"["list","banner","sound","list"]"#)
                    .with("fetch_result", "\"no_data\"").with("summary_argument_count", "3")
                    .with(
                        "media",
                        #"{"kind":"video","format":"mp4","outcome":"none","reason":"insecure_url","bytes":0,"ms":600000,"network":"other"}"#
                    ),
                .received(
                    Receipt(
                        via: .foreground, presentation: [.list, .banner, .sound], fetchResult: .noData,
                        media: Media(
                            kind: .video, format: "mp4", outcome: .noMedia, reason: .insecureURL, bytes: 0, ms: 600_000,
                            network: .other), summaryArgumentCount: 3))
            ),
            (EventText().with("presentation", "[]"), .received(Receipt(presentation: []))),
            (EventText().with("media", "{}"), .received(Receipt(media: Media()))),
            (EventText("notification.expanded"), .expanded),
            (EventText("notification.opened").with("launch", "\"cold\""), .opened(launch: .cold)),
            (EventText("notification.opened"), .opened(launch: nil)),
            (EventText("notification.dismissed"), .dismissed),
            (
                EventText("action.tapped").with("action_index", "0").with("action_count", "4")
                    .with("activation", "\"background\"").with("destructive", "false")
                    .with("authentication_required", "true").with("text_input", "true")
                    .with("handled_in", "\"content_extension\"").with("launch", "\"warm\""),
                .actionTapped(
                    ActionTap(
                        actionID: "OK", actionIndex: 0, actionCount: 4, activation: .background, destructive: false,
                        authenticationRequired: true, textInput: true, handledIn: .contentExtension, launch: .warm))
            ),
            (
                EventText("story.started").with("declared_page_count", "0").with("loops", "true"),
                .storyStarted(StoryStart(pageCount: 5, declaredPageCount: 0, loops: true))
            ),
            (
                EventText("story.page_shown").with("declared_ms", "5000").with("cause", "\"prev\""),
                .pageShown(PageShown(pageIndex: 2, declaredMS: 5000, cause: .previous))
            ),
            (
                EventText("story.action_tapped").with("link_scheme", "\"https\"").with("link_host", "\"shop.example\""),
                .storyActionTapped(StoryActionTap(pageIndex: 2, linkScheme: "https", linkHost: "shop.example"))
            ),
            (EventText("story.finished"), .storyFinished),
            (
                EventText("story.fallback_shown").with("reason", "\"no_valid_page\""),
                .fallbackShown(reason: .noValidPage)
            ),
        ]
        for (event, interaction) in cases {
            let decoded = try #require(try decodeAmongNeighbours(event.text).event, "\(event.text)")
            #expect(decoded.interaction == interaction)
            #expect(decoded.extra == nil, "\(event.text)")
        }
        #expect(Set(cases.map(\.1.type)).count == EventType.allCases.count)
    }

    @Test("every member of the notification and of the source is read")
    func notificationAndSource() throws {
        let event = EventText().with("seq", "9007199254740992").with(
            "notification",
            #"{"fcm_message_id":"a","delivery_id":"b","id":"c","category":"d","thread":"e","campaign":"f","variant":"g","#
                + #""analytics_label":"h","topic":"i","apns_id":"j","collapse_id":"k","interruption_level":"l","#
                + #""origin":"local","alert":false,"sent_at":1795167013000}"#)
        let source =
            #"{"install_id":"\#(install.uppercased())","platform":"a","os_version":"b","app_version":"c","sdk":"d","#
            + #""device_model":"e","locale":"f","time_zone":"g","fid":"h","authorization":"not_determined"}"#
        let decoded = try #require(try decode(envelope([event.text], source: source)).items[0].event)
        #expect(
            decoded.notification
                == Notification(
                    fcmMessageID: "a", deliveryID: "b", id: "c", category: "d", thread: "e", campaign: "f",
                    variant: "g",
                    analyticsLabel: "h", topic: "i", apnsID: "j", collapseID: "k", interruptionLevel: "l",
                    origin: .local, alert: false, sentAt: received))
        #expect((decoded.seq, decoded.extraText) == (9_007_199_254_740_992, nil))
        let read = decoded.source
        #expect(read.installID.description == install)
        #expect(
            [
                read.platform, read.osVersion, read.appVersion, read.sdk, read.deviceModel, read.locale, read.timeZone,
                read.fid,
            ]
                == ["a", "b", "c", "d", "e", "f", "g", "h"])
        #expect(read.authorization == .notDetermined)
    }

    @Test(
        "a member of the wrong type or out of its range rejects, with its path",
        arguments: [
            ("notification.received", "seq", ["-1", "9007199254740993", "1.5", "\"1\"", "true", "[]", "{}", "1e16"]),
            ("notification.received", "via", ["1", "true", "[]", "{}", "[\"foreground\"]"]),
            ("notification.received", "presentation", ["\"banner\"", "{}", "1", "[1]", "[\"x\",true]", "[[]]"]),
            ("notification.received", "fetch_result", ["0", "false"]),
            ("notification.received", "media", ["\"image\"", "[]", "true", "1"]),
            ("notification.received", "summary_argument_count", ["-1", "0.5", "9223372036854775808", "\"3\""]),
            ("notification.received", "source", ["\"x\"", "[]", "1", "true"]),
            ("notification.opened", "launch", ["1", "{}"]),
            ("action.tapped", "action_id", ["7", "true", "[]", long(257)]),
            ("action.tapped", "action_index", ["-1", "\"0\"", "1e19"]),
            ("action.tapped", "action_count", ["-1"]), ("action.tapped", "activation", ["1"]),
            ("action.tapped", "destructive", ["1", "\"true\"", "0"]),
            ("action.tapped", "authentication_required", ["[]"]),
            ("action.tapped", "text_input", ["\"hello\""]), ("action.tapped", "handled_in", ["1"]),
            ("story.started", "page_count", ["0", "1001", "-1", "1.5", "\"5\"", "true"]),
            ("story.started", "declared_page_count", ["-1", "1001", "\"5\""]),
            ("story.started", "loops", ["1", "\"false\""]),
            ("story.page_shown", "page_index", ["-1", "1000", "0.1", "\"0\""]),
            ("story.page_shown", "declared_ms", ["-1", "\"5\""]), ("story.page_shown", "cause", ["1"]),
            ("story.action_tapped", "page_index", ["1000"]), ("story.action_tapped", "link_scheme", ["1", long(513)]),
            ("story.action_tapped", "link_host", ["[]", long(513)]), ("story.fallback_shown", "reason", ["1"]),
        ])
    func wrongMembers(type: String, member: String, values: [String]) throws {
        for value in values {
            let rejection = try #require(
                try decodeAmongNeighbours(EventText(type).with(member, value).text).rejection, "\(member): \(value)")
            #expect(rejection.reason == .invalidField)
            #expect(rejection.detail.hasPrefix("events[1].\(member): "), "\(rejection.detail)")
            #expect(rejection.detail.utf8.count < 200)
        }
    }

    @Test("a wrong member of the notification or of media rejects, with its path")
    func wrongNestedMembers() throws {
        let identifiers = [
            "fcm_message_id", "delivery_id", "id", "category", "thread", "campaign", "variant", "analytics_label",
            "topic",
            "apns_id", "collapse_id",
        ]
        var wrong: [(object: String, member: String, value: String)] = []
        for member in identifiers {
            for value in ["7", "true", "[]", "{}", MemberTests.long(257)] {
                wrong.append(("notification", member, value))
            }
        }
        wrong += ["1", MemberTests.long(513)].map { ("notification", "interruption_level", $0) }
        wrong += ["1", "[]"].map { ("notification", "origin", $0) }
        wrong += ["1", "\"true\""].map { ("notification", "alert", $0) }
        wrong += ["true", "[]", "{}"].map { ("notification", "sent_at", $0) }
        wrong += ["kind", "outcome", "reason", "network"].map { ("media", $0, "1") }
        wrong += ["1", MemberTests.long(513)].map { ("media", "format", $0) }
        wrong += ["-1", "1.5", "\"1\""].map { ("media", "bytes", $0) }
        wrong += ["-1", "600001", "\"1\""].map { ("media", "ms", $0) }
        for (object, member, value) in wrong {
            let needed = object == "notification" && member != "delivery_id" ? #""delivery_id":"d","# : ""
            let event = EventText().with(object, "{\(needed)\"\(member)\":\(value)}").text
            let rejection = try #require(try decodeAmongNeighbours(event).rejection, "\(member): \(value)")
            #expect(rejection.reason == .invalidField)
            #expect(rejection.detail.hasPrefix("events[1].\(object).\(member): "), "\(rejection.detail)")
        }
    }

    @Test("strings may be as long as their bound, in bytes")
    func bounds() throws {
        let identifier = String(repeating: "é", count: 128)
        let event = EventText("action.tapped").with("action_id", "\"\(identifier)\"")
            .with("notification", "{\"id\":\"\(identifier)\",\"interruption_level\":\"\(identifier)\(identifier)\"}")
        let decoded = try #require(try decodeAmongNeighbours(event.text).event)
        #expect(decoded.notification.id == identifier)
        #expect(decoded.notification.interruptionLevel?.utf8.count == 512)
        #expect(decoded.interaction == .actionTapped(ActionTap(actionID: identifier)))
        let longer = event.with("action_id", "\"\(identifier)e\"")
        #expect(try decodeAmongNeighbours(longer.text).rejection?.reason == .invalidField)
    }

    @Test("a whole number counts however it is written")
    func wholeNumbers() throws {
        for (text, seq) in [("17", 17), ("17.0", 17), ("1.7e1", 17), ("1E3", 1000), ("0", 0), ("-0", 0), ("-0.0", 0)] {
            #expect(try decodeAmongNeighbours(EventText().with("seq", text).text).event?.seq == Int64(seq), "\(text)")
        }
        let bytes = EventText().with("media", #"{"bytes":9223372036854775807}"#)
        #expect(
            try decodeAmongNeighbours(bytes.text).event?.interaction == .received(Receipt(media: Media(bytes: .max))))
    }

    @Test("null and an empty string are the same as absent, everywhere")
    func absence() throws {
        for absent in ["null", "\"\""] {
            let event = EventText().with("seq", absent).with("via", absent).with("presentation", absent)
                .with("media", absent).with("source", absent).with("reason", absent).with("unknown", absent)
                .with(
                    "notification",
                    "{\"id\":\"a\",\"category\":\(absent),\"origin\":\(absent),\"alert\":\(absent),\"sent_at\":\(absent),\"x\":\(absent)}"
                )
            let decoded = try #require(try decodeAmongNeighbours(event.text).event)
            #expect(decoded.notification == Notification(id: "a"))
            #expect(decoded.interaction == .received(Receipt()))
            #expect((decoded.seq, decoded.extraText) == (nil, nil))
            let nested = EventText().with("media", "{\"kind\":\(absent),\"bytes\":\(absent)}")
            #expect(try decodeAmongNeighbours(nested.text).event?.interaction == .received(Receipt(media: Media())))
            let list = EventText().with("presentation", "[\(absent),\"list\"]")
            #expect(
                try decodeAmongNeighbours(list.text).event?.interaction == .received(Receipt(presentation: [.list])))
        }
    }

    @Test("of repeated keys the last wins at every level, also when it is null")
    func repeatedKeys() throws {
        let event = EventText().appending(
            #""seq":"x","seq":5,"via":"foreground","via":null,"media":7,"media":{"kind":1,"kind":"audio","k\u0069nd":"image"},"#
                + #""x":1,"x":[2],"y":1,"y":null,"notification":{"id":7,"category":"a","id":"b","category":null}"#)
        let decoded = try #require(try decodeAmongNeighbours(event).event)
        #expect(decoded.seq == 5)
        #expect(decoded.interaction == .received(Receipt(media: Media(kind: .image))))
        #expect(decoded.notification == Notification(id: "b"))
        #expect(decoded.extraText == #"{"x":[2]}"#)
    }

    @Test("times are read as RFC 3339 or as epoch milliseconds")
    func times() throws {
        for (text, time) in [
            ("\"2026-11-20T09:30:10.123456789Z\"", "2026-11-20T09:30:10.123456Z"),
            ("\"2026-11-20 16:30:10+07:00\"", "2026-11-20T09:30:10.000000Z"),
            ("1795167010000", "2026-11-20T09:30:10.000000Z"), ("1795167010000.25", "2026-11-20T09:30:10.000250Z"),
            ("1.79516701e12", "2026-11-20T09:30:10.000000Z"),
            ("\"2000-01-01T00:00:00Z\"", "2000-01-01T00:00:00.000000Z"),
        ] {
            let event = try #require(try decodeAmongNeighbours(EventText().with("at", text).text).event, "\(text)")
            #expect(event.deviceAt.description == time)
        }
    }

    private static func long(_ bytes: Int) -> String { "\"\(String(repeating: "x", count: bytes))\"" }
}
