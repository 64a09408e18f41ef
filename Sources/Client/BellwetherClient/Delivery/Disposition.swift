internal import Foundation

/// What an answer means for the envelope that it answers.
enum Disposition: Sendable {
    /// Every event is settled: stored, already known, or permanently refused.
    case settled([Results.Refused])
    /// This envelope can never succeed as it is; smaller ones may.
    case refused(status: Int, detail: String)
    /// No other envelope would succeed with this key.
    case keyRefused(status: Int)
    /// Not now; the server may also ask for a minimum wait in seconds.
    case later(reason: String, retryAfter: TimeInterval?)

    /// - Parameter events: how many events the envelope had. An answer that does not cover all of them does not count.
    init(_ answer: Answer, events: Int, now: Date) {
        switch answer.status {
        case 200:
            // The login page of a hotel network answers with 200, too.
            guard let results = try? JSONDecoder().decode(Results.self, from: Data(answer.body)),
                results.settles(events)
            else {
                self = .later(reason: "the answer is not one of a Bellwether server", retryAfter: nil)
                return
            }
            self = .settled(results.refused(of: events))
        case 400, 413, 415: self = .refused(status: answer.status, detail: Disposition.detail(of: answer))
        // Only from the server itself: a hotel network refuses requests with the same status.
        case 401 where Disposition.isProblem(answer), 403 where Disposition.isProblem(answer):
            self = .keyRefused(status: answer.status)
        default:
            self = .later(
                reason: "the server answered \(answer.status)\(Disposition.detail(of: answer))",
                retryAfter: RetryAfter.seconds(in: answer, now: now))
        }
    }

    private struct Problem: Decodable {
        let code: String?
        let detail: String?
    }

    /// Whether the answer is a problem document of a Bellwether server about the key.
    private static func isProblem(_ answer: Answer) -> Bool {
        let type = answer.headers["content-type"]?.lowercased() ?? ""
        guard type.hasPrefix("application/problem+json") else { return false }
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body))
        return problem?.code?.contains("key") == true
    }

    /// The problem document's text, for the developer.
    private static func detail(of answer: Answer) -> String {
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(answer.body))
        let words = [problem?.code, problem?.detail].compactMap(\.self).map { $0.beginning(200) }
        return words.isEmpty ? "" : " (\(words.joined(separator: ": ")))"
    }
}

/// The body of a 200.
struct Results: Decodable, Sendable {
    /// An event that the server will never take.
    struct Refused: Decodable, Sendable {
        let index: Int
        var id: String?
        let result: String
        var reason: String?
        var detail: String?
    }

    let accepted: Int
    let duplicate: Int
    let rejected: Int
    let results: [Refused]?

    /// The refused ones of an envelope's events, each once and in short texts, whatever the answer says.
    func refused(of events: Int) -> [Refused] {
        var places = Set(0..<events)
        return (results ?? []).filter { $0.result == "rejected" && places.remove($0.index) != nil }.map { refused in
            var short = refused
            short.id = refused.id?.beginning(Bounds.identifier)
            short.reason = refused.reason?.beginning(200)
            short.detail = refused.detail?.beginning(600)
            return short
        }
    }

    func settles(_ events: Int) -> Bool {
        let counts = [accepted, duplicate, rejected]
        return counts.allSatisfy { (0...events).contains($0) } && counts.reduce(0, +) == events
    }
}

extension String {
    /// So many of its first code points: what looks like one character may be of any length.
    fileprivate func beginning(_ count: Int) -> String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }
}

/// How long a server wants to be left alone.
enum RetryAfter {
    static func seconds(in answer: Answer, now: Date) -> TimeInterval? {
        guard let value = answer.headers["retry-after"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int(value) { return capped(TimeInterval(seconds)) }
        guard let then = date(value) else { return nil }
        // Use the server's own clock if it sends its time: the device's clock may be wrong by years.
        let begin = answer.headers["date"].flatMap { date($0) } ?? now
        return capped(then.timeIntervalSince(begin))
    }

    /// Limits every wait to a day, whatever the server asks for.
    private static func capped(_ seconds: TimeInterval) -> TimeInterval {
        min(max(0, seconds), TimeInterval(Pace.longest) / 1000)
    }

    private static func date(_ text: String) -> Date? {
        // On Linux, Foundation crashes the process where a combining character ends what it could read.
        guard text.utf8.count == 29, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
