internal import HTTPClient
internal import JSON

/// What an answer of the service means for the envelope.
enum PostAnswer {
    case taken(accepted: Int, duplicate: Int, rejected: Int)
    /// The server may take it later, unchanged, but not before this many seconds.
    case later(status: Int, seconds: Double)
    case never(PostingError)

    init(_ response: HTTPResponse, parser: JSONParser) {
        switch response.status {
        case 200:
            guard let counts = PostAnswer.counts(response.body, parser) else {
                self = .never(.stranger)
                return
            }
            self = counts
        case 408, 429, 500...599: self = .later(status: response.status, seconds: Double(response.retryAfter ?? 0))
        case 401, 403:
            self = .never(.keyRefused(status: response.status, PostAnswer.detail(response.body, parser)))
        case let status: self = .never(.refused(status: status, PostAnswer.detail(response.body, parser)))
        }
    }

    private static func counts(_ body: [UInt8], _ parser: JSONParser) -> PostAnswer? {
        let counts = parser.withDocument(body.span) { root -> PostAnswer? in
            guard let accepted = root.count(of: "accepted"), let duplicate = root.count(of: "duplicate"),
                let rejected = root.count(of: "rejected")
            else { return nil }
            return .taken(accepted: accepted, duplicate: duplicate, rejected: rejected)
        }
        return (try? counts.get()) ?? nil
    }

    /// A short text for a problem document (RFC 9457).
    static func detail(_ body: [UInt8], _ parser: JSONParser) -> String {
        let detail = parser.withDocument(body.span) { root in
            root.members.first { key, _ in key.spells("detail") }?.value.text.map { $0.string }
        }
        return String(((try? detail.get()) ?? nil ?? "").prefix(300))
    }
}

extension JSONValue {
    fileprivate func count(of name: StaticString) -> Int? {
        guard case .signed(let number)? = members.first(where: { key, _ in key.spells(name) })?.value.number else {
            return nil
        }
        // No server takes that many at once, and sums of them must fit.
        return (0...Int64(Int32.max)).contains(number) ? Int(number) : nil
    }
}

/// What became of the posted envelopes.
package struct PostCounts: Hashable, Sendable, CustomStringConvertible {
    /// Envelopes that were answered with 200.
    package var envelopes = 0
    /// The events in them.
    package var sent = 0
    package var accepted = 0
    package var duplicate = 0
    package var rejected = 0
    /// Requests that were repeated because no answer or "later" came.
    package var retried = 0
    /// Events that were given up.
    package var unsent = 0

    package init() {}

    /// Whether every event that was sent has an answer.
    package var addsUp: Bool { accepted + duplicate + rejected == sent && unsent == 0 }

    package var description: String {
        "sent \(sent) events in \(envelopes) envelopes: accepted \(accepted), duplicate \(duplicate), "
            + "rejected \(rejected); retried \(retried) requests" + (unsent > 0 ? "; gave up \(unsent) events" : "")
    }
}
