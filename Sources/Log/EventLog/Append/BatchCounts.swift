internal import Envelopes
internal import Postgres
internal import Telemetry
internal import Values

/// Counts the verdicts of a batch, by app, key and quarter hour of receipt.
struct BatchCounts {
    struct Key: Hashable {
        let app: Int32
        let key: Int32
        let quarter: Timestamp

        init(of submission: Submission) {
            app = submission.app
            key = submission.key
            // Every time zone's midnight falls on a quarter hour.
            quarter = Timestamp(microseconds: submission.envelope.receivedAt.microseconds / 900_000_000 * 900_000_000)
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

        /// One more is stored.
        mutating func accept(_ event: EventRecord) {
            accepted += 1
            switch event.timeSource {
            case .device: break
            case .corrected: corrected += 1
            case .clamped: clamped += 1
            }
            if event.receivedAt - event.occurredAt > 86_400_000_000 { late += 1 }
        }
    }

    private(set) var counts: [Key: Counts] = [:]

    /// Adds accepted events and duplicates.
    mutating func add(_ more: Counts, for key: Key) {
        var sum = counts[key] ?? Counts()
        sum.accepted += more.accepted
        sum.duplicate += more.duplicate
        sum.corrected += more.corrected
        sum.clamped += more.clamped
        sum.late += more.late
        sum.other += more.other
        counts[key] = sum
    }

    mutating func countDuplicate(for key: Key) {
        counts[key, default: Counts()].duplicate += 1
    }

    mutating func count(_ reason: RejectionReason, for key: Key) {
        counts[key, default: Counts()].rejected[reason, default: 0] += 1
    }

    /// Adds a line for an envelope without events.
    mutating func mention(_ key: Key) {
        if counts[key] == nil { counts[key] = Counts() }
    }
}

extension BatchCounts {
    /// The parameters of `log.add_batch`: nine numbers each, and the rejections by reason if there are any.
    var parameters: (numbers: [Int64], rejected: Nullables<JSONB>?) {
        var numbers: [Int64] = []
        numbers.reserveCapacity(9 * counts.count)
        var (rejected, hasRejected): ([JSONB?], Bool) = ([], false)
        for (key, count) in counts {
            numbers.append(Int64(key.app))
            numbers.append(Int64(key.key))
            numbers.append(key.quarter.microseconds / 900_000_000)
            numbers.append(Int64(count.accepted))
            numbers.append(Int64(count.duplicate))
            numbers.append(Int64(count.corrected))
            numbers.append(Int64(count.clamped))
            numbers.append(Int64(count.late))
            numbers.append(Int64(count.other))
            rejected.append(count.rejectedJSON)
            if !count.rejected.isEmpty { hasRejected = true }
        }
        return (numbers, hasRejected ? Nullables(rejected) : nil)
    }
}

extension BatchCounts.Counts {
    fileprivate var rejectedJSON: JSONB? {
        guard !rejected.isEmpty else { return nil }
        let members = rejected.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\"\($0.key.rawValue)\":\($0.value)" }
        return JSONB(Array("{\(members.joined(separator: ","))}".utf8))
    }
}
