internal import Telemetry
internal import Values

/// Counts what became of the events of a batch, by app, key and quarter hour of receipt.
struct Tally {
    struct Key: Hashable {
        let app: Int32
        let key: Int32
        let quarter: Timestamp

        init(of submission: Submission) {
            app = submission.app
            key = submission.key
            // Every time zone's midnight falls on a quarter hour.
            quarter = Timestamp(microseconds: submission.receivedAt.microseconds / 900_000_000 * 900_000_000)
        }
    }

    struct Counts {
        var accepted: Int32 = 0
        var duplicate: Int32 = 0
        var corrected: Int32 = 0
        var clamped: Int32 = 0
        var late: Int32 = 0
        var other: Int32 = 0
        var rejected: [RejectionReason: Int] = [:]
    }

    private(set) var counts: [Key: Counts] = [:]

    mutating func count(_ event: Event, _ verdict: Verdict, for key: Key) {
        switch verdict {
        case .accepted:
            counts[key, default: Counts()].accepted += 1
            switch event.timeSource {
            case .device: break
            case .corrected: counts[key, default: Counts()].corrected += 1
            case .clamped: counts[key, default: Counts()].clamped += 1
            }
            if event.receivedAt - event.occurredAt > 86_400_000_000 { counts[key, default: Counts()].late += 1 }
        case .duplicate: counts[key, default: Counts()].duplicate += 1
        case .rejected(let rejection): count(rejection.reason, for: key)
        }
    }

    mutating func count(_ reason: RejectionReason, for key: Key) {
        counts[key, default: Counts()].rejected[reason, default: 0] += 1
    }

    /// One of the accepted has a value that was not learned.
    mutating func countOther(for key: Key) {
        counts[key, default: Counts()].other += 1
    }

    /// A line for an envelope that brought no event at all.
    mutating func mention(_ key: Key) {
        if counts[key] == nil { counts[key] = Counts() }
    }
}
