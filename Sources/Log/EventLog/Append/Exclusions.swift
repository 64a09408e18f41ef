internal import Envelopes
internal import Telemetry
internal import Values

/// What must not come into this database.
struct Exclusions {
    var closedKeys: Set<Int32> = []
    /// Shards that other cells have, of so many.
    var elsewhere: Set<Int16> = []
    var shards = Shard.most
    /// Apps that this database does not know yet.
    var unknownApps: Set<Int32> = []

    /// What to say of a submission that must not come in.
    func settlement(of submission: Submission) -> Settlement? {
        if closedKeys.contains(submission.key) { return .keyClosed }
        if unknownApps.contains(submission.app) { return .elsewhere }
        guard !elsewhere.isEmpty else { return nil }
        let isElsewhere = submission.indexes.contains { event in
            elsewhere.contains(Shard.of(submission.envelope.install(of: event), among: shards))
        }
        return isElsewhere ? .elsewhere : nil
    }
}
