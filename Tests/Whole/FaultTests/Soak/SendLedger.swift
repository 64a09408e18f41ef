import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// A sender that tells sends, and what came of it.
final class SendLedger: Sendable {
    private struct State {
        var numbers: SeededNumbers
        var told: [String: Int64] = [:]
        var unsettled: [[String: Int64]] = []
        var acknowledged: Set<String> = []
    }

    private let state: Lock<State>

    init(seed: UInt64) { state = Lock(State(numbers: SeededNumbers(seed: seed))) }

    var acknowledged: Int { state.withLock { $0.acknowledged.count } }

    /// Tells three new ones, or again some of which nobody knows whether they were taken; now and then both.
    func tell(_ household: Household) -> Errands.ErrandResult {
        let (sends, door) = state.withLock { state in
            if state.unsettled.isEmpty || Bool.random(using: &state.numbers) {
                var sends: [String: Int64] = [:]
                for _ in 0..<3 { sends[Wire.id(using: &state.numbers)] = .random(in: 1...1000, using: &state.numbers) }
                state.told.merge(sends) { $1 }
                state.unsettled.append(sends)
            }
            return (state.unsettled.removeFirst(), Int.random(in: 0..<2, using: &state.numbers))
        }
        do {
            let answer = try post(sends, to: household, door)
            if answer.status == 503, answer["retry-after"] != nil {
                state.withLock { $0.unsettled.append(sends) }
                return .done
            }
            let results = try answer.results
            guard results.accepted + results.duplicate == sends.count else { return .failed("\(answer)") }
            state.withLock { $0.acknowledged.formUnion(sends.keys) }
            return .done
        } catch {
            state.withLock { $0.unsettled.append(sends) }
            return .failed("\(error)")
        }
    }

    /// What was acknowledged is there once, and counts once; told again, all is.
    func check(_ household: Household, url: String) throws {
        var connection = try Connection(url: url)
        let (told, acknowledged) = state.withLock { ($0.told, $0.acknowledged) }
        let before = try stored(&connection)
        #expect(acknowledged.filter { before[$0] == nil }.isEmpty, "acknowledged sends that are not stored")
        let all = Array(told)
        for start in stride(from: 0, to: all.count, by: 500) {
            let part = Dictionary(
                uniqueKeysWithValues: all[start..<min(start + 500, all.count)].map { ($0.key, $0.value) })
            let results = try post(part, to: household, 0).results
            #expect(results.accepted + results.duplicate == part.count)
        }
        #expect(try stored(&connection) == told)
        let sum: Int64 = try connection.query("SELECT coalesce(sum(sent), 0)::bigint FROM analytics.campaign_funnel")[0]
            .get(0)
        #expect(sum == told.values.reduce(0, +))
    }

    private func post(_ sends: [String: Int64], to household: Household, _ door: Int) throws -> RawClient.Answer {
        let lines = sends.map { #"{"id":"\#($0.key)","campaign":"K0","recipients":\#($0.value)}"# }
        return try household[door].client().send(
            "POST", "/v1/sends",
            headers: ["Authorization": "Bearer \(household.serverKey)", "Content-Type": "application/json"],
            body: Array(#"{"sends":[\#(lines.joined(separator: ","))]}"#.utf8))
    }

    /// Recipients by id; an id that is there twice would not be unique.
    private func stored(_ connection: inout Connection) throws -> [String: Int64] {
        var stored: [(String, Int64)] = []
        for row in try connection.query("SELECT send_id, recipients FROM analytics.sends") {
            stored.append((try row.get(0), try row.get(1)))
        }
        return Dictionary(stored) { _, _ in -1 }
    }
}
