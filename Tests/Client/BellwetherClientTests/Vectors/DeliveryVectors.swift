import Foundation
import Testing

@testable import BellwetherClient

/// A queue of small events before a server that keeps a vector's rules, and the requests that the library makes of it.
enum DeliveryVectors {
    private struct Rule: Sendable {
        var request: Int?
        var holds: Int?
        var moreThan: Int?
        let reply: ScriptedTransport.Reply

        func fits(_ envelope: ScriptedTransport.Envelope, _ number: Int) -> Bool {
            (request == nil || request == number + 1) && (holds.map { envelope.seqs.contains($0) } ?? true)
                && (moreThan.map { envelope.seqs.count > $0 } ?? true)
        }
    }

    static func outcome(_ given: Given) async throws -> Any {
        let rules = try given.list("server").map { rule in
            Rule(
                request: rule["request"], holds: rule["holds"], moreThan: rule["more_than"], reply: try reply(rule))
        }
        let post = Post { envelope, number in rules.first { $0.fits(envelope, number) }?.reply ?? .well }
        try post.record(try #require(given["events"]))
        var results: [String] = []
        for seconds in try #require(given["deliveries", [Int].self]) {
            let result = await post.courier.deliver(within: Double(seconds))
            switch result {
            case .delivered: results.append("delivered")
            case .waiting(let until):
                results.append("waiting \(Int(until.timeIntervalSince(post.time.clock.wall()).rounded())) s")
                post.time.pass(until.timeIntervalSince(post.time.clock.wall()))
            case .keyRefused: results.append("key refused")
            default: results.append("\(result)")
            }
        }
        return [
            "results": results, "requests": post.server.envelopes.map { ranges($0.seqs) },
            "waits": post.time.waits.map { Int($0.rounded()) }, "stored": ranges(post.server.stored.sorted()),
            "set_aside": SetAside(directory: post.queue.directory).count,
        ]
    }

    private static func reply(_ rule: Given) throws -> ScriptedTransport.Reply {
        if let seqs: [Int] = rule["rejects"] { return .rejecting(Set(seqs)) }
        if rule["loses_answer"] == true { return .lost }
        if rule["unreachable"] == true { return .unreachable }
        if rule["refuses_key"] == true { return .keyRefused() }
        return .status(try #require(rule["status"]), headers: rule["headers"] ?? [:])
    }

    /// Numbers as their ranges: `1-3 5`.
    private static func ranges(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for number in numbers {
            if let last = ranges.last, number == last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: " ")
    }
}
