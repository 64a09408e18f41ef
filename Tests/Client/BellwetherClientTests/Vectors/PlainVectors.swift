import Foundation
import Testing

@testable import BellwetherClient

/// Ids, times and waits, which need no phone.
enum PlainVectors {
    static func id(_ given: Given) throws -> Any {
        if let milliseconds: Int = given["new_at"] {
            let ids = (0..<100).map { _ in "\(EventID(at: Moment(milliseconds: Int64(milliseconds))))" }
            #expect(Set(ids).count == 100)
            let begins = try #require(Set(ids.map { $0.prefix(15) }).first)
            #expect(ids.allSatisfy { $0.hasPrefix(begins) && "89ab".contains($0.dropFirst(19).prefix(1)) })
            return ["begins": String(begins)]
        }
        let words: [String] = try #require(given["words"])
        switch words.count {
        case 1: return "\(EventID(deriving: words[0]))"
        case 2: return "\(EventID(deriving: words[0], words[1]))"
        case 4: return "\(EventID(deriving: words[0], words[1], words[2], words[3]))"
        default: throw Unknown(words.count)
        }
    }

    static func time(_ given: Given) throws -> Any {
        if let milliseconds: Int = given["clock"] { return "\(Moment(milliseconds: Int64(milliseconds)))" }
        let sent: String = try #require(given["sent_at_key"])
        return BellwetherClient.Bellwether.Push.moment(sent).map { "\($0)" as Any } ?? NSNull()
    }

    static func retry(_ given: Given) throws -> Any {
        if let failures: Int = given["failures"] {
            let asked: Int? = given["retry_after"]
            let bounds = [Backoff(random: { $0.lowerBound }), Backoff(random: { $0.upperBound })].map {
                Int($0.delay(failures: failures, retryAfter: asked.map(Double.init)))
            }
            return ["from": bounds[0], "to": bounds[1]]
        }
        let (status, events, now): (Int?, Int?, Int?) = (given["status"], given["events"], given["now"])
        let body: [String: Any]? = given["body"]
        let answer = Answer(
            status: try #require(status), headers: given["headers"] ?? [:],
            body: try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) }
                ?? Array(given["text", String.self]?.utf8 ?? "".utf8))
        let date = Date(timeIntervalSince1970: Double(now ?? 0) / 1000)
        switch Disposition(answer, events: try #require(events), now: date) {
        case .settled(let refused):
            return ["means": "settled", "rejected": refused.map(\.index)]
        case .refused: return ["means": "divide"]
        case .keyRefused: return ["means": "pause", "seconds": Int(Courier.pauseOfKey)]
        case .later(_, let retryAfter):
            return ["means": "later", "retry_after": retryAfter.map { Int($0) as Any } ?? NSNull()]
        }
    }

    struct Unknown: Error {
        let count: Int
        init(_ count: Int) { self.count = count }
    }
}
