package import HTTPClient
internal import ServiceRuntime

/// Why nothing more can be posted.
package enum PostingError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreachable(HTTPClientError)
    case keyRefused(status: Int, String)
    /// An answer that the contract does not have for what we send.
    case refused(status: Int, String)
    /// It answers 200, but not as the service does.
    case stranger

    package var description: String {
        switch self {
        case .unreachable(let error): "\(error)"
        case .keyRefused(let status, let detail):
            "the server does not take the write key (\(status)). \(String(printable: detail))"
        case .refused(404, _): "the server has no /v1/events (404): is it a Bellwether?"
        case .refused(let status, let detail):
            "the server refused an envelope (\(status)). \(String(printable: detail))"
        case .stranger: "the server answers, but not as a Bellwether: is the URL right?"
        }
    }
}
