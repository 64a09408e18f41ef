internal import Postgres
internal import Telemetry
internal import Values

/// Reads a range of batches from the log.
enum EventReader {
    /// Limits of what is read at once.
    struct Limits {
        /// Events of one COPY.
        var events: Int64 = 20_000
        /// Bytes of events, roughly. If their keys are long, the step takes fewer batches.
        var bytes = 64 << 20
    }

    /// The events of the lane's shards. In each shard the log must have as many events as its batches say:
    /// otherwise the numbers could not be explained. So it also checks batches without events in these shards. What
    /// would take too much memory is left out of the range.
    static func read(
        _ range: inout BatchRange, of lane: Lane, _ words: EventWords, _ limits: Limits, on connection: inout Connection
    ) throws(StepError) -> StepEvents {
        do {
            words.begin(at: range.words)
            var found = StepEvents(words)
            found.reserve(Int(range.events))
            var (taken, rest) = (0, range.batches[...])
            while !rest.isEmpty, found.bytes < limits.bytes {
                var events: Int64 = 0
                let part = rest.prefix { batch in
                    defer { events += batch.events(in: lane.shards) }
                    return events < limits.events
                }
                try read(Array(part), of: lane, into: &found, on: &connection)
                taken += part.count
                rest = rest.dropFirst(part.count)
            }
            range.keep(taken, of: lane)
            try words.learn(on: &connection)
            try found.findDays(on: &connection)
            return found
        } catch {
            // What it was about to learn is unknown.
            words.forget()
            throw StepError(error)
        }
    }

    private static func read(
        _ batches: [BatchRange.Batch], of lane: Lane, into found: inout StepEvents, on connection: inout Connection
    ) throws {
        var counts = FoundEvents(of: batches)
        let some = batches.filter { $0.times != nil }
        if !some.isEmpty {
            var failure: PostgresError?
            try connection.copyOut("COPY (\(events(of: some, in: lane.shards))) TO STDOUT (FORMAT binary)") { fields in
                guard failure == nil else { return }
                do throws(PostgresError) { try take(&fields, &counts, into: &found) } catch { failure = error }
            }
            if let failure { throw failure }
        }
        try counts.check(lane.shards)
    }

    /// Reads batch by batch, using the index of batches in the months that the batch has events in. Statistics must not
    /// decide: they may have been made on an empty log. The times say which months to read. Written like this they
    /// never look more selective than the batch, which is given as a range, too.
    static func events(of batches: [BatchRange.Batch], in shards: [Int16]) -> String {
        """
        SELECT e.*
        FROM unnest('{\(list(batches.map(\.id)))}'::bigint[],
            '{\(list(batches.compactMap { $0.times?.least.literal }))}'::timestamptz[],
            '{\(list(batches.compactMap { $0.times?.greatest.literal }))}'::timestamptz[]) AS b (id, least, greatest)
        CROSS JOIN LATERAL (
            SELECT \(columns)
            FROM log.event AS e
            WHERE e.batch_id = b.id AND e.batch_id >= b.id AND e.batch_id <= b.id
                AND e.device_at >= ANY (ARRAY[b.least]) AND e.device_at <= ANY (ARRAY[b.greatest])
                AND e.codes >> 4 & 63 = ANY ('{\(list(shards))}'::integer[])
            OFFSET 0
        ) AS e
        """
    }

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        values.map(\.description).joined(separator: ",")
    }

    /// What the fold reads of a row `e` of `log.event`, packed as it is. What few events carry is asked for only where
    /// a row has any of it.
    private static let columns = """
        e.batch_id, e.app, e.codes, e.install_id, e.notification_key, e.event_id, e.device_at, e.occurred_at,
            e.notification_sent_at, e.device, e.context, e.seq, e.own, e.amount_1, e.amount_2, e.word_1,
            CASE WHEN e.rare IS NOT NULL THEN ARRAY[
                e.rare ->> 'seq', coalesce(e.rare ->> 'declared_ms', e.rare ->> 'media_bytes'),
                e.rare ->> 'summary_argument_count', e.rare ->> 'device', e.rare ->> 'context'] END
        """

    /// Takes a row of these columns, in their order.
    private static func take(
        _ fields: inout CopyFields, _ counts: inout FoundEvents, into found: inout StepEvents
    ) throws(PostgresError) {
        let (batch, app, codes) = (fields.int64(), fields.int32(), fields.int32())
        let install = fields.uuid()
        let key = found.takeKey(&fields)
        let (id, deviceAt, occurredAt, sentAt) = (
            fields.uuid(), fields.timestamp(), fields.timestamp(), fields.timestamp()
        )
        let (device, context, seq, own) = (fields.int32(), fields.int32(), fields.int32(), fields.int32())
        let (amount1, amount2, word) = (fields.int32(), fields.int32(), fields.int32())
        let rare = fields.texts()
        guard fields.isWhole, let batch, let app, let codes, let install, let id, let deviceAt else {
            throw .decoding("a row of the log does not read as an event")
        }
        let shard = StepEvent.shard(in: codes)
        counts.count(batch: batch, shard: shard)
        guard let type = EventType(rawValue: StepEvent.type(in: codes)) else {
            throw .decoding(
                "an event has type \(StepEvent.type(in: codes)), which this program does not know")
        }
        var event = StepEvent(
            occurredAt: occurredAt ?? deviceAt, deviceAt: deviceAt, sentAt: sentAt, id: id, install: install,
            seq: Int64(seq ?? 0), amount1: amount1.map(Int64.init), amount2: amount2, word: word ?? 0, app: app,
            codes: codes, own: own ?? 0, device: .nothing, context: .nothing, keyStart: key.start, keyCount: key.count,
            type: type, shard: shard)
        if let rare {
            guard rare.count == 5 else { throw .decoding("a row of the log does not read as an event") }
            if seq == nil { event.seq = try number(rare[0]) ?? 0 }
            if amount1 == nil { event.amount1 = try number(rare[1]) }
            event.items = try number(rare[2])
            if device == nil, let loose = rare[3] { event.device = try found.words.place(ofDeviceIn: loose) }
            if context == nil, let loose = rare[4] { event.context = try found.words.place(ofContextIn: loose) }
        }
        if let device { event.device = found.words.place(ofDevice: device) }
        if let context { event.context = found.words.place(ofContext: context) }
        if let word { found.words.mention(word) }
        found.append(event)
    }

    private static func number(_ text: String?) throws(PostgresError) -> Int64? {
        guard let text else { return nil }
        guard let number = Int64(text) else { throw .decoding("an event has \(text) for a number") }
        return number
    }
}

extension Timestamp {
    /// As PostgreSQL reads it. Beyond the years of events it is only the side that matters.
    fileprivate var literal: String {
        if self < Timestamp.plausible.lowerBound { return "-infinity" }
        return self < Timestamp.plausible.upperBound ? description : "infinity"
    }
}
