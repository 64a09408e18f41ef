internal import HTTPClient
internal import Letters

/// Posts a letter to a URL, and judges the answer.
struct Webhook {
    private let connection: HTTPConnection

    init() {
        var limits = HTTPConnection.Limits()
        limits.connecting = 10
        limits.request = 30
        limits.answer = 64 << 10
        connection = HTTPConnection(limits: limits)
    }

    func post(
        _ body: String, to address: WebAddress,
        headers: [(name: String, value: String)] = [("Content-Type", "application/json")]
    ) -> Outcome {
        do throws(HTTPClientError) {
            let answer = try connection.send(HTTPRequest(url: address.url, headers: headers, body: Array(body.utf8)))
            return Self.judge(answer.status, answer.body, from: address.host)
        } catch { return Self.judge(error, from: address.host) }
    }

    static func judge(_ status: Int, _ body: [UInt8], from host: String) -> Outcome {
        let words = "\(host) answers \(status)" + said(body)
        return switch status {
        case 200...299: .taken
        case 300...399:
            .refused("\(words), a redirect, which is not followed: give the URL where it leads", endsPlace: true)
        case 401, 403: .refused("\(words): it does not let us in. Is the URL or the key still right?", endsPlace: true)
        case 404, 410: .refused("\(words): it does not know this URL. Was the webhook removed?", endsPlace: true)
        case 429: .refused("\(words): it has had too many messages", endsPlace: true)
        // A gateway does not know what became of it behind itself.
        case 408, 502, 504: .unanswered("\(words), from a gateway that got no answer itself")
        case 500...599: .refused("\(words): it has a fault of its own", endsPlace: true)
        default: .refused("\(words): it does not take this message", endsPlace: false)
        }
    }

    /// One plain word of an answer, such as Slack's `channel_is_archived`. Anything longer could repeat the URL.
    private static func said(_ body: [UInt8]) -> String {
        let word = String(decoding: body.prefix(64), as: UTF8.self)
        return body.count <= 48 && word.wholeMatch(of: /[a-z]+(_[a-z]+)+/) != nil ? " (\(word))" : ""
    }

    /// In words without the URL, which may be what opens the place.
    private static func judge(_ error: HTTPClientError, from host: String) -> Outcome {
        switch error {
        case .invalidURL, .invalidHeader: .refused("its URL is not one to post to", endsPlace: true)
        case .noHTTP: .unanswered("\(host) answers with something else than HTTP: is this the right URL?")
        case .unknownHost: .refused("the host \(host) is unknown", endsPlace: true)
        case .noConnection: .refused("nothing answers at \(host)", endsPlace: true)
        case .untrusted(let reason): .refused("no safe connection to \(host): \(reason)", endsPlace: true)
        case .timedOut: .unanswered("\(host) did not answer in time")
        case .broken: .unanswered("the connection to \(host) broke before an answer came")
        case .answerTooLarge(let limit):
            .unanswered("\(host) answers with more than \(limit) bytes: is this the right URL?")
        case .other(let reason): .unanswered("the request to \(host) failed: \(reason)")
        }
    }
}
