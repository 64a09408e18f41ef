internal import Foundation

extension Courier {
    /// The server's address and the key.
    struct Destination: Sendable {
        var server: URL
        var key: String

        var events: URL { server.appendingPathComponent("v1/events") }

        /// Whether the connection is encrypted or stays on this device.
        var isSafe: Bool {
            switch server.scheme?.lowercased() {
            case "https": true
            case "http": Destination.isLoopback(server.host ?? "")
            default: false
            }
        }

        static func isLoopback(_ host: String) -> Bool {
            let host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]."))
            if host == "::1" || host == "localhost" || host.hasSuffix(".localhost") { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }

        /// The warning to report if nothing may be sent to this address.
        var concern: Diagnostic? {
            guard !isSafe else { return nil }
            return Diagnostic(
                .insecureServer,
                """
                Nothing is sent to \(server.absoluteString): only https is, and http to this device itself \
                (127.0.0.1, localhost). Over plain http everybody on the way reads the write key and the events. \
                Events are kept; give the library an https address.
                """, count: 0)
        }
    }
}

/// The network, as the courier sees it.
protocol Transport: Sendable {
    /// Sends one request and returns its answer. It throws if there is no connection, the answer does not come in time,
    /// the connection breaks, or the task is cancelled.
    func send(_ posting: Posting) async throws -> Answer
}

/// One POST.
struct Posting: Sendable {
    var url: URL
    var headers: [String: String]
    var body: [UInt8]
    /// The time limit for the answer, in seconds.
    var timeout: TimeInterval
}

/// The answer of the server, or of something between us and the server.
struct Answer: Sendable {
    var status: Int
    /// The keys are lower-case names.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
}

/// No answer.
struct TransportFailure: Error, CustomStringConvertible {
    let description: String
}
