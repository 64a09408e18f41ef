internal import Envelopes
package import EventLog
package import Postgres
internal import Telemetry
internal import Values

/// Sends rejected events through ingestion again, with the clock and the envelope of their receipt.
package struct Replay {
    /// How many events had which result.
    package struct Counts: Sendable {
        package var accepted = 0
        package var duplicate = 0
        package var rejected = 0
        /// Left as they are, since another cell takes the events of their installs.
        package var elsewhere = 0

        package init() {}

        package static func += (sum: inout Counts, other: Counts) {
            sum.accepted += other.accepted
            sum.duplicate += other.duplicate
            sum.rejected += other.rejected
            sum.elsewhere += other.elsewhere
        }
    }

    private let appenders: [Appender]
    private let decoder = EnvelopeDecoder()

    /// `others` are the appenders of the other cells of a cluster: they are tried with events of installs that are not
    /// here.
    package init(appender: Appender, others: [Appender] = []) {
        appenders = [appender] + others
    }

    /// Replays all events that the filter selects, a few hundred at a time.
    package mutating func run(
        _ filter: RejectionFilter, on connection: inout Connection
    ) throws(PostgresError) -> Counts {
        var outcome = Counts()
        var page = filter
        page.limit = 500
        page.after = 0
        while true {
            let rejections = try RejectedEvents.list(page, on: &connection)
            guard let last = rejections.last else { return outcome }
            page.after = last.id
            try replay(rejections, on: &connection, &outcome)
        }
    }

    private func replay(
        _ rejections: [StoredRejection], on connection: inout Connection, _ outcome: inout Counts
    ) throws(PostgresError) {
        var submissions: [Submission] = []
        var ids: [Int64] = []
        for rejection in rejections {
            guard let envelope = decode(rejection) else {
                outcome.rejected += 1
                continue
            }
            ids.append(rejection.id)
            submissions.append(Submission(app: rejection.app, key: rejection.key, envelope: envelope))
        }
        var settled: [Int64] = []
        for appender in appenders where !submissions.isEmpty {
            var left: [Int] = []
            for (place, settlement) in try appender.append(submissions, checking: .place).enumerated() {
                guard case .settled(let verdicts) = settlement,
                    let verdict = verdicts.each(of: submissions[place]).first
                else {
                    left.append(place)
                    continue
                }
                switch verdict {
                case .accepted: outcome.accepted += 1
                case .duplicate: outcome.duplicate += 1
                case .rejected:
                    outcome.rejected += 1
                    continue
                }
                settled.append(ids[place])
            }
            (submissions, ids) = (left.map { submissions[$0] }, left.map { ids[$0] })
        }
        outcome.elsewhere += submissions.count
        if !settled.isEmpty { try RejectedEvents.markReplayed(settled, on: &connection) }
    }

    /// Decodes the event in an envelope of its own; nil if today's rules reject it.
    private func decode(_ rejection: StoredRejection) -> DecodedEnvelope? {
        let sentAt = rejection.sentAt.map { "\"sent_at\":\"\($0)\"," } ?? ""
        let source = rejection.source.map { "\"source\":\($0)," } ?? ""
        let envelope = "{\(sentAt)\(source)\"events\":[\(rejection.raw)]}"
        let decoded = try? decoder.decode(body: Array(envelope.utf8), receivedAt: rejection.receivedAt)
        guard let allowed = decoded?.kept(to: KeyRule(rejection)), allowed.accepted.count == 1 else { return nil }
        return allowed
    }
}
