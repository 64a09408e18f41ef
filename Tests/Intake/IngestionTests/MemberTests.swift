import CatalogueSupport
import Envelopes
import Ingestion
import Telemetry
import Testing
import Values

@Suite("Decoding: members")
struct MemberTests {
    @Test("each member of each type is read, kept or refused as it is declared", arguments: Member.allCases)
    func declared(member: Member) throws {
        for type in member.types {
            for sample in member.samples where member != .type || sample.isRefused {
                let event = EventText(type.wire).with(sample).text
                try check(sample, in: try decodeAmongNeighbours(event), at: "events[1].\(member.path)")
            }
        }
    }

    @Test(
        "what the envelope's source says likewise, and an event may say it better",
        arguments: Member.members(of: .source))
    func declaredOfEnvelope(member: Member) throws {
        let id = member == .installID ? "" : "\"install_id\":\"\(install)\","
        for sample in member.samples {
            let source = "{\(id)\"\(member.key)\":\(sample.json)}"
            let better = EventText().with("source", "{\"\(member.key)\":\(member.sample)}").text
            let items = try decode(envelope([EventText().text, better], source: source)).items
            try check(sample, in: items[0], at: member.path)
            try check(member.samples[0], in: items[1], at: member.path)
        }
    }

    private func check(_ sample: Sample, in item: DecodedEnvelope.Item, at path: String) throws {
        let member = sample.member
        switch sample.outcome {
        case .read(let value):
            let event = try #require(item.event, "\(sample): \(item)")
            // Without members it says as little as if it were not there.
            let isOptional = member == .notification && event.type.isAboutInstall
            if ![.media, .settings].contains(member), !isOptional {
                #expect(event.values[member.path] == value, "\(sample)")
            }
            #expect(event.extra == nil, "\(sample)")
        case .kept:
            let event = try #require(item.event, "\(sample): \(item)")
            #expect(event.values[member.path] == nil, "\(sample)")
            let kept = "{\"\(member.key)\":\(sample.json)}"
            let whole =
                switch member.declaration.object {
                case .event: kept
                case .settings: "{\"source\":{\"settings\":\(kept)}}"
                case let object: "{\"\(object.rawValue)\":\(kept)}"
                }
            #expect(event.extraText == whole, "\(sample)")
        case .refused:
            let rejection = try #require(item.rejection, "\(sample)")
            let reason: RejectionReason =
                switch member {
                case .eventID: .invalidID
                case .type: .unknownType
                case .deviceAt: .invalidTime
                case .notification: .missingNotification
                default: .invalidField
                }
            #expect(rejection.reason == reason, "\(sample)")
            #expect(rejection.detail.hasPrefix("\(path): ") && rejection.detail.utf8.count < 400, "\(rejection.detail)")
        }
    }

    @Test("all members of a type are read together", arguments: EventType.allCases)
    func together(type: EventType) throws {
        var (event, values) = (EventText(type.wire), [String: Sample.Value]())
        for object in Declaration.Object.allCases {
            var texts: [String] = []
            for member in Member.members(of: object) where member.declaration.types.contains(type) && member != .type {
                guard let sample = member.samples.last(where: { $0.isRead }), case .read(let value) = sample.outcome
                else { continue }
                values[member.path] = value
                texts.append("\"\(member.key)\":\(sample.json)")
                if object == .event, value != .object { event = event.with(member.key, sample.json) }
            }
            if object == .source {
                let settings = Member.members(of: .settings).map { "\"\($0.key)\":\($0.samples[0].json)" }
                texts =
                    texts.filter { !$0.hasPrefix("\"settings\"") } + [
                        "\"settings\":{\(settings.joined(separator: ","))}"
                    ]
            }
            if object == .settings {
                for member in Member.members(of: object) { values[member.path] = .word("on") }
            } else if object != .event, !texts.isEmpty {
                event = event.with(object.rawValue, "{\(texts.joined(separator: ","))}")
            }
        }
        values["type"] = .word(type.wire)
        let decoded = try #require(try decodeAmongNeighbours(event.text).event)
        #expect(decoded.values == values)
        #expect(decoded.extra == nil)
    }

    @Test("without a required member an event is refused", arguments: EventType.allCases)
    func required(type: EventType) throws {
        for member in type.required {
            for absent in [nil, "null", "\"\""] {
                let rejection = try decodeAmongNeighbours(EventText(type.wire).with(member.key, absent).text).rejection
                #expect(rejection?.reason == (member == .notification ? .missingNotification : .missingField))
                #expect(rejection?.detail.hasPrefix("events[1].\(member.key): ") == true, "\(type) \(member)")
            }
        }
    }

    @Test("a member of another type is an unknown one, which nobody checks", arguments: EventType.allCases)
    func foreign(type: EventType) throws {
        let foreign = Member.members(of: .event).filter { member in
            !type.members.contains { $0.key == member.key }
        }
        for member in foreign {
            let wrong = try #require(member.samples.last)
            let event = try #require(
                try decodeAmongNeighbours(EventText(type.wire).with(member.key, wrong.json).text).event)
            #expect(event.values[member.path] == nil)
            #expect(event.extraText == "{\"\(member.key)\":\(wrong.json)}")
        }
    }

    @Test("a change of permission is about the install, so a notification in it is an unknown member")
    func permission() throws {
        let event = EventText("permission.changed").with("authorization", "\"denied\"").with(
            "previous", "\"authorized\"")
        let plain = try #require(try decodeAmongNeighbours(event.text).event)
        #expect(plain.interaction == .permissionChanged(to: .denied, from: .authorized))
        #expect(plain.notification == Notification() && plain.notificationKey == nil)
        for (given, kept) in [
            ("7", "7"), (#"{"id":"a"}"#, #"{"id":"a"}"#), (#"{"id":{},"text":"typed"}"#, #"{"id":{}}"#),
        ] {
            let decoded = try #require(try decodeAmongNeighbours(event.with("notification", given).text).event)
            #expect(decoded.notificationKey == nil)
            #expect(decoded.extraText == "{\"notification\":\(kept)}")
        }
        let unknown = event.with("authorization", "\"granted\"").with(
            "previous", "\"\(String(repeating: "x", count: 600))\"")
        let decoded = try #require(try decodeAmongNeighbours(unknown.text).event)
        #expect(decoded.interaction == .permissionChanged(to: nil, from: nil))
        #expect(decoded.extraText?.hasPrefix(#"{"authorization":"granted","previous":"xxx"#) == true)
    }

    @Test("what a change of permission says is not what its source says")
    func permissionAndSource() throws {
        let change = EventText("permission.changed").with("authorization", "\"denied\"")
            .with("source", #"{"authorization":"maybe","show_previews":"never"}"#)
        let other = EventText().with("authorization", "\"denied\"")
        let source = #"{"install_id":"\#(install)","authorization":"authorized","show_previews":"now and then"}"#
        let events = try decode(envelope([change.text, other.text], source: source)).items.compactMap(\.event)
        try #require(events.count == 2)
        #expect(events[0].interaction == .permissionChanged(to: .denied, from: nil))
        #expect(events[0].source.authorization == nil && events[0].source.showPreviews == .never)
        #expect(events[0].extraText == #"{"source":{"authorization":"maybe"}}"#)
        // An unknown word of the envelope is that of every event which says no better.
        #expect(events[1].source.authorization == .authorized && events[1].source.showPreviews == nil)
        #expect(events[1].extraText == #"{"authorization":"denied","source":{"show_previews":"now and then"}}"#)
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
            #expect(try decodeAmongNeighbours(nested.text).event?.interaction == .received(Receipt()))
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
}
