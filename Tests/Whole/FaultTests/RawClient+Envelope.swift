import TestSupport

extension RawClient {
    /// Sends a whole request and does not wait for its answer.
    func sendEnvelope(_ body: String, key: String) {
        send(
            "POST /v1/events HTTP/1.1\r\nHost: bellwether\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
}
