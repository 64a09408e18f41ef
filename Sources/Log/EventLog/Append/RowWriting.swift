internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// The rows of the events that the log does not have yet, and what `log.batch` says of them.
struct RowWriting {
    private(set) var rows: CopyRows
    /// How many there are of each shard.
    private(set) var shardEvents: [Int32]
    private(set) var (least, greatest): (Timestamp?, Timestamp?) = (nil, nil)

    init(
        _ events: UniqueEvents, of submissions: [Submission], batchID: Int64, receivedAt: Timestamp?,
        firstKeys: [Int32: Int32], shards: Int16
    ) {
        rows = CopyRows(columns: EventRow.columns.count, capacity: 320 * events.candidates.count)
        shardEvents = [Int32](repeating: 0, count: Int(shards))
        for candidate in events.candidates where !candidate.isKnown {
            let identity = candidate.identity
            let shard = Shard.of(identity.install, among: shards)
            let key = submissions[candidate.place.submission].key
            let envelope = submissions.envelope(of: candidate.place)
            rows.append(
                candidate.place.event, of: envelope,
                at: EventRow.Place(
                    batchID: batchID, batchReceivedAt: receivedAt ?? envelope.receivedAt, app: identity.app,
                    key: key == firstKeys[identity.app] ? nil : key, shard: shard, tie: candidate.tie,
                    names: candidate.names, loose: events.looseCombinations(of: candidate)))
            shardEvents[Int(shard)] += 1
            least = min(least ?? identity.deviceAt, identity.deviceAt)
            greatest = max(greatest ?? identity.deviceAt, identity.deviceAt)
        }
    }
}
