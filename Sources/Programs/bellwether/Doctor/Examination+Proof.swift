internal import Console
internal import EventLog
internal import Postgres
internal import Projections
internal import ServiceRuntime
internal import Values

extension Examination {
    /// A day, plus an hour or two for the run itself.
    private static let mostHours: Int64 = 26

    /// When the numbers were last proved, all of them and the latest days.
    static let proof = Examination(name: "proof", isOfCells: true) { _, connection in
        let proofs = try Proof.all(on: &connection)
        let remedy = "run bellwether verify --since 30d each night (Examples/systemd has a timer)"
        guard !proofs.isEmpty else {
            let first: Timestamp? = try connection.query(
                "SELECT committed_at FROM log.batch ORDER BY number LIMIT 1"
            ).first?.get(0)
            guard let first else { return .ok("there is no event yet to prove numbers by") }
            return hours(since: first) < mostHours
                ? .ok("the first events are of the last \(mostHours) hours, and nothing was verified yet")
                : .warn("no number was ever proved", do: remedy, see: .notProved)
        }
        // A proof of the same days or more would have replaced it.
        if let failed = proofs.first(where: { $0.differingCells > 0 && !$0.isOfOlderTables }) {
            return .fail(
                "verify at \(failed.verifiedAt) found differing cells: \(failed.differingCells)",
                do: "run bellwether verify, which shows them; bellwether rebuild counts them anew", see: .notProved)
        }
        let standing = proofs.filter { $0.isProved && !$0.isOfOlderTables }
        guard let last = standing.first else {
            return .warn(
                "no number was proved since the funnels were built anew or moved to another zone", do: remedy,
                see: .notProved)
        }
        let whole = standing.first { $0.since == nil }
        var words =
            last.since.map { "the days from \($0) on were proved at \(last.verifiedAt)" }
            ?? "all numbers were proved at \(last.verifiedAt)"
        if last.since != nil {
            words += whole.map { ", and all numbers at \($0.verifiedAt)" } ?? ", and all numbers never"
        }
        return hours(since: last.verifiedAt) < mostHours
            ? .ok(words) : .warn("\(words): over \(mostHours) hours ago", do: remedy, see: .notProved)
    }

    private static func hours(since moment: Timestamp) -> Int64 { (WallClock.now - moment) / 3_600_000_000 }
}
