internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// A row of `log.event` as it is written. The catalogue says where each member goes. This code, which runs for every
/// event, is written by hand, and a test compares the two member by member.
enum EventRow {
    /// In the order in which a row is written.
    static let columns = [
        "batch_id", "device_at", "event_id", "install_id", "app", "codes", "device", "context", "seq", "own",
        "amount_1", "amount_2", "word_1", "word_2", "key",
        "occurred_at", "received_at", "notification_sent_at",
        "notification_key", "delivery_id", "notification_id", "fid", "fcm_suffix", "rare", "extra",
    ]

    static let copy =
        "COPY log.event (\(columns.map(Statement.quoted).joined(separator: ", "))) FROM STDIN (FORMAT binary)"

    /// What an event shares with its batch, and the ids of its words.
    struct Place {
        let batchID: Int64
        /// When the first event of the batch was received.
        let batchReceivedAt: Timestamp
        let app: Int32
        /// Nil for the app's first key, which most events use.
        let key: Int32?
        let shard: Int16
        /// 0, unless an earlier event of the same time has the same hash.
        let tie: Int16
        let names: Names
        /// Device and context if the dictionaries have no room for them: the event's own row holds them.
        let loose: LooseCombinations?
    }

    /// An event received later than this after the first one of its batch stores its own time of receipt.
    static let sameReceipt: Int64 = 100_000
}

/// The device and context of an event that have no rows of their own.
struct LooseCombinations {
    var device: Combination?
    var context: Combination?
}

extension CopyRows {
    /// One event as one row.
    mutating func append(_ index: Int, of envelope: DecodedEnvelope, at place: EventRow.Place) {
        let event = envelope.events[index]
        let source = envelope.sources[Int(event.source)]
        let texts = envelope.texts
        let keySource = event.keySource

        beginRow()
        append(place.batchID)
        append(event.deviceAt)
        append(event.id)
        append(source.install)
        append(place.app)
        append(event.codes | Int32(place.tie) | Int32(place.shard) << 4)
        append(place.names.device)
        append(place.names.context)
        append(event.seq)
        append(event.own == 0 ? nil : event.own)
        append(event.amounts[0])
        append(event.amounts[1])
        append(place.names.word1)
        append(place.names.word2)
        append(place.key)
        append(event.occurredAt == event.deviceAt ? nil : event.occurredAt)
        append(event.receivedAt(besides: place.batchReceivedAt))
        append(event.notificationSentAt)
        append(event.key, of: texts)
        // The id that became the key is not stored twice.
        append(keySource == .deliveryID ? .none : event.texts[EventRecord.Slot.deliveryID], of: texts)
        append(keySource == .notificationID ? .none : event.texts[EventRecord.Slot.notificationID], of: texts)
        append(source.fid, of: texts)
        append(hex: event.suffix, of: texts)
        appendRare(event.rare, place.loose, of: texts)
        if place.names.others.isEmpty {
            append(json: event.extra, of: texts)
        } else {
            append(JSONB(envelope.extra(of: index, withRaw: place.names.others)))
        }
    }

    private mutating func append(_ slice: TextSlice, of texts: [UInt8]) {
        if slice.isEmpty { appendNull() } else { append(bytes: texts.span.extracting(slice.range)) }
    }

    private mutating func append(json slice: TextSlice, of texts: [UInt8]) {
        if slice.isEmpty { appendNull() } else { append(json: texts.span.extracting(slice.range)) }
    }

    /// Appends pairs of hexadecimal digits as bytes.
    private mutating func append(hex slice: TextSlice, of texts: [UInt8]) {
        guard !slice.isEmpty else { return appendNull() }
        func value(_ digit: UInt8) -> UInt8 {
            digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
        }
        beginField(count: Int(slice.count) / 2)
        for place in stride(from: Int(slice.start), to: slice.range.upperBound, by: 2) {
            append(byte: value(texts[place]) << 4 | value(texts[place + 1]))
        }
    }

    private mutating func appendRare(_ members: TextSlice, _ loose: LooseCombinations?, of texts: [UInt8]) {
        if members.isEmpty, loose == nil { return appendNull() }
        var parts: [[UInt8]] = members.isEmpty ? [] : [Array(texts[members.range])]
        if let device = loose?.device { parts.append(Array("\"device\":\(device.json)".utf8)) }
        if let context = loose?.context { parts.append(Array("\"context\":\(context.json)".utf8)) }
        append(JSONB(Array("{".utf8) + parts.joined(separator: Array(",".utf8)) + Array("}".utf8)))
    }
}

extension EventRecord {
    /// The time of receipt if the batch's is not close enough, or if `occurredAt` was computed from it and must be
    /// exact.
    fileprivate func receivedAt(besides batch: Timestamp) -> Timestamp? {
        timeSource == .device && 0..<EventRow.sameReceipt ~= receivedAt - batch ? nil : receivedAt
    }
}
