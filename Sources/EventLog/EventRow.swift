internal import Postgres
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// A row of `log.event` as it is written. Where each member goes the catalogue says; a test holds this against it, member by
/// member, since what runs for every event is written out.
enum EventRow {
    /// In the order in which a row is written.
    static let columns = [
        "batch_id", "device_at", "event_id", "install_id", "app", "codes", "device", "context", "seq", "own",
        "amount_1",
        "amount_2", "word_1", "word_2", "key", "occurred_at", "received_at", "notification_sent_at", "notification_key",
        "delivery_id", "notification_id", "fid", "fcm_suffix", "rare", "extra",
    ]

    static let copy =
        "COPY log.event (\(columns.map(Statement.quoted).joined(separator: ", "))) FROM STDIN (FORMAT binary)"

    /// What an event shares with its batch, and the numbers under which the log knows its words.
    struct Place {
        let batchID: Int64
        /// When the first event of the batch was received.
        let batchReceivedAt: Timestamp
        let app: Int32
        /// Nil for the first key of the app, with which most events come.
        let key: Int32?
        let shard: Int16
        /// 0, unless an earlier event of the same time has the same hash.
        let tie: Int16
        let names: Names
    }

    /// An event that was received so much later than the first one of its batch says when.
    static let sameReceipt: Int64 = 100_000
}

/// Which of a notification's three ids became its key. The codes are frozen: stored events hold them.
enum KeySource: Int32 {
    case fcmMessageID = 1
    case deliveryID
    case notificationID
}

extension CopyRows {
    /// One event as one row.
    mutating func append(_ event: Event, at place: EventRow.Place) {
        let notification = event.notification
        let key = event.notificationKey
        let keySource: KeySource? =
            if notification.fcmMessageID != nil { .fcmMessageID } else if notification.deliveryID != nil {
                .deliveryID
            } else if notification.id != nil { .notificationID } else { nil }
        let fcm = FCMSpelling(of: notification.fcmMessageID, key: key)
        let own = OwnMembers(of: event.interaction)
        var rare = RareMembers()

        var codes = Int32(place.tie) | Int32(place.shard) << 4 | Int32(event.type.rawValue) << 10
        codes |= Int32(event.timeSource.rawValue) << 15 | (keySource?.rawValue ?? 0) << 17
        codes |= Int32(notification.origin?.rawValue ?? 0) << 19 | notification.alert.bits << 21

        beginRow()
        append(place.batchID)
        append(event.deviceAt)
        append(event.id)
        append(event.source.installID)
        append(place.app)
        append(codes)
        append(place.names.device)
        append(place.names.context)
        append(rare.small(event.seq, "seq"))
        append(own.bits == 0 ? nil : own.bits)
        append(rare.small(own.amounts.0, own.amountNames.0))
        append(rare.small(own.amounts.1, own.amountNames.1))
        append(place.names.word1)
        append(place.names.word2)
        append(place.key)
        append(event.occurredAt == event.deviceAt ? nil : event.occurredAt)
        append(event.receivedAt(besides: place.batchReceivedAt))
        append(notification.sentAt)
        append(key)
        // The id that became the key is not stored twice.
        append(keySource == .deliveryID ? nil : notification.deliveryID)
        append(keySource == .notificationID ? nil : notification.id)
        append(event.source.fid)
        if case .suffix(let suffix) = fcm { append(bytes: suffix) } else { appendNull() }
        if case .other(let raw) = fcm { rare.add("fcm_message_id", raw) }
        rare.add("apns_id", notification.apnsID)
        rare.add("collapse_id", notification.collapseID)
        rare.add("relevance_score", notification.relevanceScore)
        rare.add("target_content_id", notification.targetContentID)
        rare.add("summary_argument", notification.summaryArgument)
        rare.add("summary_argument_count", own.summaryArgumentCount)
        rare.add("device", json: place.names.looseDevice?.json)
        rare.add("context", json: place.names.looseContext?.json)
        append(rare.object)
        append(event.extra(withRaw: place.names.others).map { JSONB($0) })
    }
}

extension Event {
    /// When it was received, where that is not told well enough by its batch. Exact where `occurredAt` was made of it.
    fileprivate func receivedAt(besides batch: Timestamp) -> Timestamp? {
        timeSource == .device && 0..<EventRow.sameReceipt ~= receivedAt - batch ? nil : receivedAt
    }
}

/// How an FCM message id is spelled beside the key that was made of it.
private enum FCMSpelling {
    /// There is none, or it is the key.
    case none
    /// `0:KEY%SUFFIX`, the suffix in pairs of lower-case hexadecimal digits.
    case suffix([UInt8])
    case other(String)

    init(of raw: String?, key: String?) {
        guard let raw, let key, raw != key else {
            self = .none
            return
        }
        self = FCMSpelling.suffix(of: raw, key: key).map { .suffix($0) } ?? .other(raw)
    }

    private static func suffix(of raw: String, key: String) -> [UInt8]? {
        let digits = raw.utf8.dropFirst(key.utf8.count + 3)
        guard raw.hasPrefix("0:\(key)%"), !digits.isEmpty, digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}

/// What only this type of event has: bits, numbers and where the numbers go if they are large.
private struct OwnMembers {
    var bits: Int32 = 0
    var amounts: (Int64?, Int64?) = (nil, nil)
    var amountNames: (StaticString, StaticString) = ("", "")
    var summaryArgumentCount: Int64?

    init(of interaction: Interaction) {
        switch interaction {
        case .received(let receipt):
            let media = receipt.media
            put(receipt.via, 0)
            put(receipt.fetchResult, 4)
            put(media?.kind, 8)
            put(media?.outcome, 12)
            put(media?.reason, 16)
            put(media?.network, 20)
            if let presentation = receipt.presentation {
                bits |= presentation.reduce(1) { $0 | 1 << Int32($1.rawValue) } << 24
            }
            amounts = (media?.bytes, media?.ms.map(Int64.init))
            amountNames = ("media_bytes", "media_ms")
            summaryArgumentCount = receipt.summaryArgumentCount
        case .opened(let launch): put(launch, 0)
        case .actionTapped(let tap):
            put(tap.launch, 0)
            put(tap.activation, 4)
            put(tap.handledIn, 8)
            bits |= tap.destructive.bits << 12 | tap.authenticationRequired.bits << 14 | tap.textInput.bits << 16
            amounts = (tap.actionIndex, tap.actionCount)
            amountNames = ("action_index", "action_count")
        case .storyStarted(let start):
            let declared = start.declaredPageCount.map { Int32($0) + 1 } ?? 0
            bits = Int32(start.pageCount) | declared << 10 | start.loops.bits << 20
        case .pageShown(let page):
            bits = Int32(page.pageIndex) + 1
            put(page.cause, 10)
            amounts.0 = page.declaredMS
            amountNames.0 = "declared_ms"
        case .storyActionTapped(let tap): bits = Int32(tap.pageIndex) + 1
        case .fallbackShown(let reason): put(reason, 0)
        case .permissionChanged(let authorization, let previous):
            put(authorization, 0)
            put(previous, 4)
        case .expanded, .dismissed, .storyFinished: break
        }
    }

    private mutating func put<Word: WireEnum>(_ word: Word?, _ first: Int32) {
        bits |= Int32(word?.rawValue ?? 0) << first
    }
}

extension Bool? {
    /// 0 for none, 1 for false, 2 for true.
    fileprivate var bits: Int32 { self.map { $0 ? 2 : 1 } ?? 0 }
}

/// The JSON object of the members that few events carry.
private struct RareMembers {
    private var text = ""

    /// A number that fits a column; a larger one goes here.
    mutating func small(_ number: Int64?, _ name: StaticString) -> Int32? {
        guard let number else { return nil }
        if let small = Int32(exactly: number) { return small }
        add(name, number)
        return nil
    }

    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        text.appendJSON(value)
    }

    mutating func add(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        begin(name)
        text += "\(value)"
    }

    mutating func add(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        begin(name)
        text += "\(value)"
    }

    mutating func add(_ name: StaticString, json: String?) {
        guard let json else { return }
        begin(name)
        text += json
    }

    var object: JSONB? { text.isEmpty ? nil : JSONB(Array((text + "}").utf8)) }

    private mutating func begin(_ name: StaticString) {
        text += text.isEmpty ? "{\"\(name)\":" : ",\"\(name)\":"
    }
}
