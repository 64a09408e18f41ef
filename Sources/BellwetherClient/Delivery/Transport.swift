internal import Foundation

/// The network, as the courier sees it.
protocol Transport: Sendable {
    /// Sends one request and gives its answer, or throws: no connection, none in time, cut, or the task is cancelled.
    func send(_ posting: Posting) async throws -> Answer
}

/// One POST.
struct Posting: Sendable {
    var url: URL
    var headers: [String: String]
    var body: [UInt8]
    /// After so many seconds there is no answer.
    var timeout: TimeInterval
}

/// What the server, or somebody on the way to it, answered.
struct Answer: Sendable {
    var status: Int
    /// By name in lower case.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
}

/// No answer.
struct TransportFailure: Error, CustomStringConvertible {
    let description: String
}
