internal import Postgres
internal import Values

/// What `bellwether verify` found about some days: it counts the numbers of all funnels again from the events.
struct Verification: Hashable, Sendable {
    /// It covers the days from then on; nil: all days.
    var since: CivilDate?
    var at: Timestamp
    /// Whether every number of those days was compared and none differed.
    var isProved: Bool
    /// Of all apps together.
    var differing: Int64
    /// Up to which batch of the log.
    var position: Int64
    /// Whether nothing has changed since, so that the numbers that were verified are those of the report.
    var isUnchanged: Bool

    var isProofOfToday: Bool { isProved && isUnchanged }
}

/// Whether the numbers were proved: said of the whole page only if it is true of every funnel's number on it.
enum ProofSection: ReportSection {
    /// The last that covers the days of the report, and the last that covers all days on its page.
    static func read(into report: inout Report, _ scope: ReportScope, on connection: inout Connection)
        throws(PostgresError)
    {
        let first = report.trend.map(\.day).min() ?? scope.firstDay
        for day in Set([scope.firstDay, min(first, scope.firstDay)]).sorted(by: >) {
            let rows = try connection.query(
                """
                SELECT since, verified_at, proved, differing_cells, position, unchanged FROM analytics.proofs
                WHERE app = \(scope.app) AND (since IS NULL OR since <= \(day))
                ORDER BY verified_at DESC, since NULLS FIRST LIMIT 1
                """)
            report.verifications += try rows.map { row throws(PostgresError) in
                Verification(
                    since: try row.optional(0), at: try row.get(1), isProved: try row.get(2), differing: try row.get(3),
                    position: try row.get(4), isUnchanged: try row.get(5))
            }
        }
    }

    static func words(_ report: Report) -> Page.Section? {
        guard let last = report.verifications.first else { return nil }
        return Page.Section("Proved", [sentence(last, report)])
    }

    private static func sentence(_ last: Verification, _ report: Report) -> Block {
        let time = "\(last.at)".prefix(16).replacing("T", with: " ") + " UTC"
        let word = report.period.word
        guard last.isProved else {
            guard last.differing > 0 else {
                return .sentence(
                    "At \(time), not every number of the funnels could be compared with the events.", .plain)
            }
            let numbers = Wording.count(last.differing, "number", "numbers")
            return .sentence(
                "At \(time), \(numbers) of the funnels of all apps differed from the events. Do not rely on this page "
                    + "until bellwether verify finds no difference.", .alarm)
        }
        guard last.isUnchanged else {
            return .sentence(
                "The numbers of this \(word) were last proved at \(time), up to batch \(Wording.count(last.position)) "
                    + "of the log. Events have come in since, or the funnels were built anew.", .note)
        }
        let proof = "proved at \(time): counted again from the events in another way, with the same result"
        return report.isProved
            ? .sentence("Every funnel number on this page was \(proof).", .good)
            : .sentence(
                "Every funnel number of this \(word) was \(proof). The days that it is compared with were not.", .plain)
    }

    static func facts(_ report: Report) -> [EntryList] {
        .single(
            "proof",
            report.verifications.first.map { last in
                Entry(facts: [
                    .text("since", last.since.map { "\($0)" }), .text("verified_at", "\(last.at)"),
                    .flag("proved", last.isProved), .count("differing_cells", last.differing),
                    .count("position", last.position), .flag("unchanged", last.isUnchanged),
                    .flag("covers_page", report.isProved),
                ])
            })
    }
}

extension Report {
    /// Whether every number of a funnel on the page was proved, and stands as it was proved.
    var isProved: Bool {
        let first = (trend.map(\.day) + restated.map(\.day) + [period.days.lowerBound]).min()
        guard let first, verifications.first?.isProofOfToday == true else { return false }
        let last = verifications.first { verification in verification.since.map { $0 <= first } ?? true }
        return last?.isProofOfToday ?? false
    }
}
