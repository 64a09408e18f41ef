internal import Foundation
internal import Glibc

/// A well-behaved client: one connection, kept as long as the server keeps it. One thread at a time.
package final class HTTPClient {
    private let connect: () throws -> RawClient
    private var connection: RawClient?

    /// To this machine.
    package init(port: UInt16) { connect = { try RawClient(port: port) } }

    /// To a Unix socket.
    package init(path: String) { connect = { try RawClient(path: path) } }

    package func get(_ path: String, headers: [String: String] = [:]) throws -> RawClient.Answer {
        try send("GET", path, headers: headers)
    }

    /// Posts an envelope; a header that is given replaces the usual one, an empty one is left away.
    package func post(
        _ body: String, key: String?, headers: [String: String] = [:]
    ) throws -> RawClient.Answer {
        try post(Array(body.utf8), key: key, headers: headers)
    }

    /// Posts bytes that need be no text.
    package func post(
        _ body: [UInt8], key: String?, headers: [String: String] = [:]
    ) throws -> RawClient.Answer {
        var all = ["Content-Type": "application/json"]
        if let key { all["Authorization"] = "Bearer \(key)" }
        return try send("POST", "/v1/events", headers: all.merging(headers) { $1 }, body: body)
    }

    /// Sends one request and reads its answer, within the half minute in which the server must have given one.
    package func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8]? = nil
    ) throws -> RawClient.Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(headers["Host"] ?? "bellwether")\r\n"
        for (name, value) in headers where !value.isEmpty && name != "Host" { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        // As other clients do, it looks before it uses a connection again: one that was idle for long is closed by
        // then.
        let kept = self.connection.flatMap { $0.hasUnread ? nil : $0 }
        self.connection = nil
        let connection = try kept ?? connect()
        connection.send(Array((head + "\r\n").utf8) + (body ?? []))
        let answer = try connection.answer(toHead: method == "HEAD", within: 30)
        if answer["connection"]?.lowercased() != "close" { self.connection = connection }
        return answer
    }
}
