package import Envelopes
private import Foundation
package import Telemetry
package import Values

/// Records spelled out as events, and events written as records: by hand, and so a check of what the catalogue's tables
/// do.
extension Event {
    /// An event of an envelope.
    package init(_ record: EventRecord, of envelope: DecodedEnvelope) {
        func text(_ slice: TextSlice) -> String? { slice.isEmpty ? nil : envelope.text(slice) }
        func text(_ slot: Int) -> String? { text(record.texts[slot]) }
        let rare = RareMembers(text(record.rare) ?? "")
        let source = envelope.sources[Int(record.source)]
        func own<Word: WireEnum>(_ first: Int32) -> Word? { Word(rawValue: Int16(record.own >> first & 15)) }
        func flag(_ first: Int32) -> Bool? { [nil, false, true][Int(record.own >> first & 3)] }
        func number(_ first: Int32) -> Int16? {
            let bits = Int16(record.own >> first & 1023)
            return bits == 0 ? nil : bits - 1
        }
        func amount(_ place: Int, _ name: String) -> Int64? {
            record.amounts[place].map(Int64.init) ?? rare.integer(name)
        }
        let interaction: Interaction
        switch record.type {
        case .notificationReceived:
            let media = Media(
                kind: own(8), format: text(7), outcome: own(12), reason: own(16), bytes: amount(0, "media_bytes"),
                ms: amount(1, "media_ms").map { Int32($0) }, network: own(20))
            let shown = record.own >> 24 & 63
            interaction = .received(
                Receipt(
                    via: own(0),
                    presentation: shown & 1 == 0
                        ? nil : PresentationOption.allCases.filter { shown >> Int32($0.rawValue) & 1 == 1 },
                    fetchResult: own(4), media: media == Media() ? nil : media,
                    summaryArgumentCount: rare.integer("summary_argument_count")))
        case .notificationExpanded: interaction = .expanded
        case .notificationOpened: interaction = .opened(launch: own(0))
        case .notificationDismissed: interaction = .dismissed
        case .actionTapped:
            interaction = .actionTapped(
                ActionTap(
                    actionID: text(7) ?? "", actionIndex: amount(0, "action_index"),
                    actionCount: amount(1, "action_count"), activation: own(4), destructive: flag(12),
                    authenticationRequired: flag(14), textInput: flag(16), handledIn: own(8), launch: own(0)))
        case .storyStarted:
            interaction = .storyStarted(
                StoryStart(pageCount: (number(0) ?? -1) + 1, declaredPageCount: number(10), loops: flag(20)))
        case .storyPageShown:
            interaction = .pageShown(
                PageShown(pageIndex: number(0) ?? -1, declaredMS: amount(0, "declared_ms"), cause: own(10)))
        case .storyActionTapped:
            interaction = .storyActionTapped(
                StoryActionTap(pageIndex: number(0) ?? -1, linkScheme: text(7), linkHost: text(8)))
        case .storyFinished: interaction = .storyFinished
        case .storyFallbackShown: interaction = .fallbackShown(reason: own(0))
        case .permissionChanged: interaction = .permissionChanged(to: own(0), from: own(4))
        case .goalReached:
            let letters = (0..<3).map { UInt8(64 + (record.own >> (5 * $0) & 31)) }
            interaction = .goalReached(
                Goal(
                    text(7) ?? "", value: amount(0, "value"),
                    currency: record.own == 0 ? nil : String(decoding: letters, as: UTF8.self)))
        case .settingsChanged: interaction = .settingsChanged
        }
        self.init(
            id: record.id, deviceAt: record.deviceAt, occurredAt: record.occurredAt, receivedAt: record.receivedAt,
            timeSource: record.timeSource, seq: record.seq.map(Int64.init) ?? rare.integer("seq"),
            source: Source(
                installID: source.install, platform: text(source.texts[0]), osVersion: text(source.texts[2]),
                appVersion: text(source.texts[1]), sdk: text(source.texts[3]), deviceModel: text(source.texts[4]),
                locale: text(source.texts[5]), timeZone: text(source.texts[6]), fid: text(source.fid),
                authorization: Authorization(rawValue: Int16(source.codes[0])),
                showPreviews: ShowPreviews(rawValue: Int16(source.codes[1])), settings: Settings(source)),
            notification: Notification(
                fcmMessageID: text(9), deliveryID: text(10), id: text(11), category: text(0), thread: text(1),
                campaign: text(2), variant: text(3), analyticsLabel: text(4), topic: text(5),
                apnsID: rare.text("apns_id"), collapseID: rare.text("collapse_id"), interruptionLevel: text(6),
                origin: Origin(rawValue: Int16(record.codes >> 19 & 3)),
                alert: [nil, false, true][Int(record.codes >> 21 & 3)], sentAt: record.notificationSentAt,
                relevanceScore: rare.number("relevance_score"), targetContentID: rare.text("target_content_id"),
                summaryArgument: rare.text("summary_argument")),
            interaction: interaction, extra: record.extra.isEmpty ? nil : Array(envelope.texts[record.extra.range]))
        precondition(notificationKey == text(record.key), "the key is another one")
    }
}

extension DecodedEnvelope {
    /// An event of it, spelled out.
    package enum Item: Sendable {
        case event(Event)
        case rejected(id: Values.UUID?, install: Values.UUID?, Rejection)
    }

    /// What it holds, in order.
    package var items: [Item] {
        var rejected = rejected[...]
        return events.enumerated().map { index, record in
            guard let first = rejected.first, first.index == index else { return .event(Event(record, of: self)) }
            rejected.removeFirst()
            return .rejected(id: first.id, install: first.install, first.rejection)
        }
    }

    /// What a decoder would make of these events, whatever their times. The rejected ones stand behind them.
    package convenience init(
        of events: [Event], rejected: [RejectedEvent] = [], drops: [ClientDrop] = [], receivedAt: Timestamp,
        sentAt: Timestamp? = nil, source: String? = nil, raw: (Int) -> String = { "{\"place\":\($0)}" }
    ) {
        var (texts, sources, records): ([UInt8], [SourceRecord], [EventRecord]) = ([], [], [])
        for event in events {
            if records.isEmpty || events[records.count - 1].source !== event.source {
                sources.append(SourceRecord(event.source, &texts))
            }
            records.append(EventRecord(event, source: Int32(sources.count - 1), &texts))
        }
        let refused = rejected.enumerated().map { place, event in
            RejectedEvent(
                index: events.count + place, id: event.id, install: event.install, rejection: event.rejection,
                raw: event.raw)
        }
        let body = "{\"events\":[\(events.indices.map(raw).joined(separator: ","))],\"source\":\(source ?? "null")}"
        self.init(
            receivedAt: receivedAt, sentAt: sentAt, installID: events.first?.source.installID,
            events: records + refused.map { _ in EventRecord() }, rejected: refused, sources: sources, texts: texts,
            drops: drops,
            raw: RawEnvelope(body: Array(body.utf8), eventsOrdinal: 0, sourceOrdinal: source.map { _ in 1 }))
    }
}

extension RejectedEvent {
    /// One whose place in the envelope does not matter.
    package init(id: Values.UUID?, install: Values.UUID? = nil, rejection: Rejection, raw: String) {
        self.init(index: 0, id: id, install: install, rejection: rejection, raw: raw)
    }
}

extension TextSlice {
    fileprivate init(_ text: String?, _ texts: inout [UInt8]) {
        guard let text, !text.isEmpty else {
            self = .none
            return
        }
        texts += Array(text.utf8)
        self.init(start: texts.count - text.utf8.count, count: text.utf8.count)
    }
}

extension Settings {
    fileprivate init(_ source: SourceRecord) {
        self.init()
        for (place, setting) in Settings.all.enumerated() {
            self[keyPath: setting] = Setting(rawValue: Int16(source.codes[2 + place]))
        }
    }
}

extension SourceRecord {
    fileprivate init(_ source: Source, _ texts: inout [UInt8]) {
        self.init()
        install = source.installID
        let words = [
            source.platform, source.appVersion, source.osVersion, source.sdk, source.deviceModel, source.locale,
            source.timeZone,
        ]
        for (slot, word) in words.enumerated() { self.texts[slot] = TextSlice(word, &texts) }
        codes[0] = Int32(source.authorization?.rawValue ?? 0)
        codes[1] = Int32(source.showPreviews?.rawValue ?? 0)
        for (place, setting) in Settings.all.enumerated() {
            codes[2 + place] = Int32(source.settings[keyPath: setting]?.rawValue ?? 0)
        }
        fid = TextSlice(source.fid, &texts)
    }
}

extension EventRecord {
    fileprivate init(_ event: Event, source: Int32, _ texts: inout [UInt8]) {
        self.init()
        let notification = event.notification
        var rare = RareMembers("")
        func small(_ number: Int64?, _ name: String) -> Int32? {
            guard let number else { return nil }
            if let small = Int32(exactly: number) { return small }
            rare.add(name, .integer(number))
            return nil
        }
        (id, deviceAt, occurredAt, receivedAt) = (event.id, event.deviceAt, event.occurredAt, event.receivedAt)
        (timeSource, type, self.source) = (event.timeSource, event.type, source)
        notificationSentAt = notification.sentAt
        seq = small(event.seq, "seq")
        codes |= Int32(notification.origin?.rawValue ?? 0) << 19 | notification.alert.bits << 21
        var words = [
            notification.category, notification.thread, notification.campaign, notification.variant,
            notification.analyticsLabel, notification.topic, notification.interruptionLevel, nil, nil,
            notification.fcmMessageID, notification.deliveryID, notification.id,
        ]
        func put<Word: WireEnum>(_ word: Word?, _ first: Int32) { own |= Int32(word?.rawValue ?? 0) << first }
        switch event.interaction {
        case .received(let receipt):
            let media = receipt.media
            put(receipt.via, 0)
            put(receipt.fetchResult, 4)
            put(media?.kind, 8)
            put(media?.outcome, 12)
            put(media?.reason, 16)
            put(media?.network, 20)
            if let presentation = receipt.presentation {
                own |= presentation.reduce(1) { $0 | 1 << Int32($1.rawValue) } << 24
            }
            words[7] = media?.format
            amounts[0] = small(media?.bytes, "media_bytes")
            amounts[1] = media?.ms
            if let count = receipt.summaryArgumentCount { rare.add("summary_argument_count", .integer(count)) }
        case .opened(let launch): put(launch, 0)
        case .actionTapped(let tap):
            put(tap.launch, 0)
            put(tap.activation, 4)
            put(tap.handledIn, 8)
            own |= tap.destructive.bits << 12 | tap.authenticationRequired.bits << 14 | tap.textInput.bits << 16
            words[7] = tap.actionID
            amounts[0] = small(tap.actionIndex, "action_index")
            amounts[1] = small(tap.actionCount, "action_count")
        case .storyStarted(let start):
            own = Int32(start.pageCount) | (start.declaredPageCount.map { Int32($0) + 1 } ?? 0) << 10
            own |= start.loops.bits << 20
        case .pageShown(let page):
            own = Int32(page.pageIndex) + 1
            put(page.cause, 10)
            amounts[0] = small(page.declaredMS, "declared_ms")
        case .storyActionTapped(let tap):
            own = Int32(tap.pageIndex) + 1
            (words[7], words[8]) = (tap.linkScheme, tap.linkHost)
        case .fallbackShown(let reason): put(reason, 0)
        case .permissionChanged(let authorization, let previous):
            put(authorization, 0)
            put(previous, 4)
        case .goalReached(let goal):
            words[7] = goal.name
            amounts[0] = small(goal.value, "value")
            for (place, letter) in (goal.currency ?? "").utf8.enumerated() {
                own |= Int32(letter - 64) << (5 * Int32(place))
            }
        case .expanded, .dismissed, .storyFinished, .settingsChanged: break
        }
        for (slot, word) in words.enumerated() { self.texts[slot] = TextSlice(word, &texts) }
        key = TextSlice(event.notificationKey, &texts)
        if let raw = notification.fcmMessageID, let key = event.notificationKey {
            keySource = .fcmMessageID
            let digits = raw.utf8.dropFirst(key.utf8.count + 3)
            let isHex = digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
            if raw != key, raw.hasPrefix("0:\(key)%"), !digits.isEmpty, digits.count % 2 == 0, isHex {
                suffix = TextSlice(String(digits), &texts)
            } else if raw != key {
                rare.add("fcm_message_id", .text(raw))
            }
        } else if event.notificationKey != nil {
            keySource = notification.deliveryID != nil ? .deliveryID : .notificationID
        }
        for (name, text) in [
            ("apns_id", notification.apnsID), ("collapse_id", notification.collapseID),
            ("target_content_id", notification.targetContentID), ("summary_argument", notification.summaryArgument),
        ] {
            if let text { rare.add(name, .text(text)) }
        }
        if let score = notification.relevanceScore { rare.add("relevance_score", .number(score)) }
        self.rare = TextSlice(rare.text, &texts)
        extra = TextSlice(event.extra.map { String(decoding: $0, as: UTF8.self) }, &texts)
    }
}

extension Bool? {
    fileprivate var bits: Int32 { self.map { $0 ? 2 : 1 } ?? 0 }
}

/// The members that few events have, as JSON without its braces.
private struct RareMembers {
    private(set) var text: String

    init(_ text: String) { self.text = text }

    private var members: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data("{\(text)}".utf8)) as? [String: Any]) ?? [:]
    }

    func text(_ name: String) -> String? { text.isEmpty ? nil : members[name] as? String }
    func integer(_ name: String) -> Int64? { text.isEmpty ? nil : (members[name] as? NSNumber)?.int64Value }
    func number(_ name: String) -> Double? { text.isEmpty ? nil : (members[name] as? NSNumber)?.doubleValue }

    mutating func add(_ name: String, _ value: Sample.Value) {
        let json: String
        switch value {
        case .integer(let number): json = "\(number)"
        case .number(let number): json = "\(number)"
        case .text(let text):
            let array = (try? JSONSerialization.data(withJSONObject: [text])) ?? Data()
            json = String(String(decoding: array, as: UTF8.self).dropFirst().dropLast())
        default: preconditionFailure("no rare member is a \(value)")
        }
        text += (text.isEmpty ? "" : ",") + "\"\(name)\":\(json)"
    }
}
