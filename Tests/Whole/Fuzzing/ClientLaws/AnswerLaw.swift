import Foundation

@testable import BellwetherClient

/// What holds for every answer that a server, or anything on the way to it, may give.
///
/// The first byte of an input chooses the status and which header fields there are, the second how many events the
/// envelope had. Then come the header fields, each up to a zero byte. The rest is the body.
package enum AnswerLaw {
    private static let now = Date(timeIntervalSince1970: 1_795_167_013)
    private static let statuses = [200, 400, 401, 403, 413, 415, 429, 503]
    private static let fields = ["content-type", "retry-after", "date"]
    private static let counts = [0, 1, 2, 3, 10, 100, 1000]
    /// Bytes of a text that is kept or told.
    private static let longest = 2400

    /// Each law that an answer broke, in words.
    package static func broken(by input: [UInt8]) -> [String] {
        guard input.count >= 2 else { return [] }
        var answer = Answer(status: statuses[Int(input[0] % 8)])
        var rest = input[2...]
        for (place, field) in fields.enumerated() where input[0] & (8 << place) != 0 {
            let value = rest.prefix { $0 != 0 }
            answer.headers[field] = String(decoding: value, as: UTF8.self)
            rest = rest.dropFirst(value.count + 1)
        }
        answer.body = Array(rest)
        let events = counts[Int(input[1]) % counts.count]
        return faults(of: Disposition(answer, events: events, now: now), events)
    }

    private static func faults(of disposition: Disposition, _ events: Int) -> [String] {
        switch disposition {
        case .settled(let refused):
            let places = refused.map(\.index)
            let texts = refused.flatMap { [$0.id, $0.result, $0.reason, $0.detail].compactMap(\.self) }
            let areOurs = places.allSatisfy((0..<events).contains) && Set(places).count == places.count
            return (areOurs ? [] : ["events are refused twice, or were not in the envelope"])
                + (texts.allSatisfy(isShort) ? [] : ["what is said of an event is endless"])
        case .refused(let status, let detail):
            return [400, 413, 415].contains(status) && isShort(detail) ? [] : ["a refusal is endless, or is none"]
        case .keyRefused(let status):
            return [401, 403].contains(status) ? [] : ["a key is refused by an answer that does not say so"]
        case .later(let reason, let retryAfter):
            return (isShort(reason) ? [] : ["a reason is endless"])
                + ((0...86_400).contains(retryAfter ?? 0) ? [] : ["a wait is shorter than none, or longer than a day"])
        }
    }

    private static func isShort(_ text: String) -> Bool { text.utf8.count <= longest }
}
