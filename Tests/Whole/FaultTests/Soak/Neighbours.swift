import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// What people do with a household while it works: errands, and what must have come of them in the end.
final class Neighbours: Sendable {
    let errands: Errands
    let sends: SendLedger
    private let household: Household
    private let erased = Lock<[String]>([])
    private let edition = Lock(0)

    init(of household: Household, beside mishaps: Mishaps, seed: UInt64) {
        self.household = household
        errands = Errands(beside: mishaps)
        sends = SendLedger(seed: seed)
    }

    /// Lets them come. `pace` is how many times rarer than in a soak of seconds.
    func come(pace: Double) {
        errands.run("a send told", every: 0.2) { [self] _ in sends.tell(household) }
        errands.run("nonsense posted", every: 0.1) { [household] number in try Vandal.post(number, to: household) }
        errands.run("categories imported", every: pace) { [self] number in try register(number) }
        errands.run("an analyst's reading (psql)", every: 0.5 * pace) { [self] _ in try read() }
        errands.run("report", every: 4 * pace) { [self] _ in
            outcome(
                try household.bellwether.start(["report", "--app", Household.app, "--format", "json"]).wait(within: 180)
            )
        }
        errands.run("verify", every: 4 * pace) { [self] _ in try verify() }
        errands.run("rebuild", every: 6 * pace) { [self] number in try rebuild(number) }
        errands.run("an install erased", every: 5 * pace) { [self] _ in try erase() }
    }

    /// What was promised to them is so.
    func check(url: String) throws {
        #expect(errands.complaints.isEmpty)
        try sends.check(household, url: url)
        var connection = try Connection(url: url)
        for install in erased.withLock({ $0 }) {
            let left = try connection.query("SELECT FROM analytics.events WHERE install_id = \(install)::uuid")
            #expect(left.count == 0, "an erased install is in the log")
        }
        let last = edition.withLock { $0 }
        let titles: [String] = try connection.query(
            "SELECT title FROM analytics.category_buttons WHERE action_id = 'GO'"
        )
        .map { try $0.get(0) }
        #expect(titles == ["Go \(last)"])
    }

    private func outcome(_ ended: ChildProcess.Ended) -> Errands.ErrandResult {
        ended.status == 0 ? .done : .failed("\(ended)")
    }

    /// Registers a category whose button has another title each time; what is not confirmed is sent again until it is.
    private func register(_ number: Int) throws -> Errands.ErrandResult {
        let title = edition.withLock { edition in
            edition += 1
            return edition
        }
        let document = #"{"categories":[{"id":"C0","actions":[{"id":"GO","titles":{"en":"Go \#(title)"}}]}]}"#
        var answer: RawClient.Answer?
        // Nothing else is registered before this one is.
        let isRegistered = eventually(within: 120) {
            answer = try? household[Int.random(in: 0..<2)].client().send(
                "PUT", "/v1/categories",
                headers: ["Authorization": "Bearer \(household.serverKey)", "Content-Type": "application/json"],
                body: Array(document.utf8))
            return answer?.status == 200
        }
        return isRegistered ? .done : .failed("not registered: \(String(describing: answer))")
    }

    /// All funnels are of one position: what is counted in several ways is one number in every snapshot.
    private func read() throws -> Errands.ErrandResult {
        let ended = try household.bellwether.start(["psql", "--", "-XAtc", Self.laws]).wait(within: 120)
        guard ended.status == 0 else { return .failed("\(ended)") }
        if ended.output != "t\n" { errands.complain("an analyst read: \(ended.output)") }
        return .done
    }

    private static let laws = """
        WITH c AS (SELECT sum(delivered) AS delivered, sum(responded) AS responded FROM category_funnel),
            v AS (SELECT sum(delivered) AS delivered, sum(responded) AS responded FROM version_funnel),
        t AS (SELECT sum(delivered) AS delivered, sum(responded) AS responded FROM thread_funnel),
        d AS (SELECT count(*) AS delivered, count(*) FILTER (WHERE responded) AS responded FROM deliveries
            WHERE NOT silent)
        SELECT \(rows)
            AND coalesce((c.delivered, c.responded) = (v.delivered, v.responded)
                AND (c.delivered, c.responded) = (t.delivered, t.responded)
                AND (c.delivered, c.responded) = (d.delivered, d.responded), true)
        FROM c, v, t, d
        """

    /// No view has a row that breaks a law of rows.
    private static let rows = Funnels().tables.filter { $0.source == "analytics.\($0.view)" }.map { table in
        "NOT EXISTS (SELECT FROM \(table.view) WHERE (\(FunnelLaws.condition(ofRowsIn: table))) IS NOT TRUE)"
    }.joined(separator: " AND ")

    private func verify() throws -> Errands.ErrandResult {
        let ended = try household.bellwether.start(["verify", "--format", "json"]).wait(within: 300)
        if ended.output.contains(#""proved":false"#) { errands.complain("verify: \(ended)") }
        return outcome(ended)
    }

    /// Every other one is killed at some moment.
    private func rebuild(_ number: Int) throws -> Errands.ErrandResult {
        let command = try household.bellwether.start(["rebuild"])
        guard number % 2 == 1 else { return outcome(try command.wait(within: 300)) }
        _ = eventually(within: .random(in: 0...2)) { !command.isRunning }
        command.signal(SIGKILL)
        let ended = try command.wait()
        return ended.status == 128 + SIGKILL ? .done : outcome(ended)
    }

    /// Posts what a new install has to tell, and has it erased, both again and again until it is done: also what got no
    /// answer, or a 503, may be stored.
    private func erase() throws -> Errands.ErrandResult {
        let install = Wire.id()
        let envelope = Wire.envelope(install: install, (0..<20).map { _ in AnyEvent.make() })
        var answer: RawClient.Answer?
        let isPosted = eventually(within: 120) {
            answer = try? household[Int.random(in: 0..<2)].client().post(envelope, key: household.key)
            return answer?.status == 200
        }
        guard isPosted else { return .failed("not posted: \(String(describing: answer))") }
        var ended: ChildProcess.Ended?
        for _ in 0..<20 {
            ended = try household.bellwether.start(["erase", "--app", Household.app, "--install", install]).wait(
                within: 120)
            if ended?.status == 0 {
                erased.withLock { $0.append(install) }
                return .done
            }
        }
        return .failed("not erased: \(String(describing: ended))")
    }
}
