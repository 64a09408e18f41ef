import Compression
import Foundation
import Testing

@testable import BellwetherClient

/// A server that answers as a test says, and keeps what it stored.
final class ScriptedTransport: Transport {
    /// One request as the server reads it.
    struct Envelope: Sendable {
        let headers: [String: String]
        let url: String
        let timeout: TimeInterval
        let raw: Int
        let packed: Int
        let text: String
        let seqs: [Int]
        let drops: [String]
        let sentAt: String
        let source: String?
    }

    enum Reply: Sendable {
        /// As a server that is well.
        case well
        /// As a server that is well, but these are refused for ever.
        case rejecting(Set<Int>)
        /// By the server itself, as Docs/API.md has it.
        case keyRefused(Int = 401)
        case status(Int, headers: [String: String] = [:], body: String = "")
        /// Stored, but the answer never comes.
        case lost
        case unreachable
    }

    private let state = Guarded((envelopes: [Envelope](), stored: [Int](), drops: [String]()))
    private let script: @Sendable (_ envelope: Envelope, _ number: Int) async throws -> Reply

    init(_ script: @escaping @Sendable (_ envelope: Envelope, _ number: Int) async throws -> Reply) {
        self.script = script
    }

    var envelopes: [Envelope] { state.withLock { $0.envelopes } }
    /// The seqs that are stored, a repeated one once, in the order they came.
    var stored: [Int] { state.withLock { $0.stored } }
    /// The ids of what was told to be dropped, as often as it was stored.
    var drops: [String] { state.withLock { $0.drops } }

    func send(_ posting: Posting) async throws -> Answer {
        let envelope = try Envelope(posting)
        let number = state.withLock { state in
            state.envelopes.append(envelope)
            return state.envelopes.count - 1
        }
        switch try await script(envelope, number) {
        case .well: return store(envelope)
        case .rejecting(let seqs): return store(envelope, rejecting: seqs)
        case .status(let status, let headers, let body):
            return Answer(status: status, headers: headers, body: Array(body.utf8))
        case .keyRefused(let status):
            return Answer(
                status: status, headers: ["content-type": "application/problem+json"],
                body: Array(#"{"code":"unknown_key","detail":"no app has this key"}"#.utf8))
        case .lost:
            _ = store(envelope)
            throw TransportFailure(description: "the connection was cut")
        case .unreachable: throw TransportFailure(description: "no network")
        }
    }

    private func store(_ envelope: Envelope, rejecting refused: Set<Int> = []) -> Answer {
        state.withLock { state in
            let known = Set(state.stored)
            let taken = envelope.seqs.filter { !refused.contains($0) }
            let new = taken.filter { !known.contains($0) }
            state.stored += new
            state.drops += envelope.drops
            let results = envelope.seqs.enumerated().filter { refused.contains($1) }.map { place, seq in
                #"{"index":\#(place),"id":"id-\#(seq)","result":"rejected","reason":"invalid_time","detail":"at"}"#
            }
            return Answer(
                status: 200,
                body: Array(
                    """
                    {"accepted":\(new.count),"duplicate":\(taken.count - new.count),"rejected":\(results.count),\
                    "results":[\(results.joined(separator: ","))],"more":1}
                    """.utf8))
        }
    }
}

extension ScriptedTransport.Envelope {
    init(_ posting: Posting) throws {
        let raw = try gunzip(posting.body, limit: 8 << 20)
        let object = try JSONSerialization.jsonObject(with: Data(raw)) as? [String: Any] ?? [:]
        let events = object["events"] as? [[String: Any]] ?? []
        let drops = object["dropped"] as? [[String: Any]] ?? []
        self.init(
            headers: posting.headers, url: posting.url.absoluteString, timeout: posting.timeout, raw: raw.count,
            packed: posting.body.count, text: String(decoding: raw, as: UTF8.self),
            seqs: events.compactMap { $0["seq"] as? Int }, drops: drops.compactMap { $0["id"] as? String },
            sentAt: object["sent_at"] as? String ?? "",
            source: (object["source"] as? [String: Any]).flatMap { $0["install_id"] as? String })
    }
}

/// Time that passes only by waiting, at once.
final class QuickTime: Sendable {
    private let state: Guarded<(wall: Date, uptime: TimeInterval, waits: [TimeInterval])>

    init() { state = Guarded((Date(timeIntervalSince1970: 1_800_000_000), 100, [])) }

    var waits: [TimeInterval] { state.withLock { $0.waits } }

    /// Somebody sets the device's clock.
    func setClock(by seconds: TimeInterval) { state.withLock { $0.wall += seconds } }

    func pass(_ seconds: TimeInterval) {
        state.withLock { state in
            state.wall += seconds
            state.uptime += seconds
        }
    }

    var clock: DeviceClock {
        DeviceClock(
            wall: { self.state.withLock { $0.wall } }, uptime: { self.state.withLock { $0.uptime } },
            sleep: { seconds in
                try Task.checkCancellation()
                self.state.withLock { $0.waits.append(seconds) }
                self.pass(seconds)
            })
    }
}

/// A courier with its queue, in a time and before a server that a test makes.
struct Post {
    let scratch: QueueDirectory
    let time: QuickTime
    let server: ScriptedTransport
    let queue: Queue
    let courier: Courier
    let diagnostics = Diagnostics()

    init(
        in scratch: QueueDirectory = QueueDirectory(inMemory: true), time: QuickTime = QuickTime(),
        limits: Queue.Limits = .init(),
        random: @escaping @Sendable (ClosedRange<TimeInterval>) -> TimeInterval = { $0.upperBound },
        activity: ExpiringActivity = .system, server address: String = "https://b.example/base",
        _ script: @escaping @Sendable (ScriptedTransport.Envelope, Int) async throws -> ScriptedTransport.Reply
    ) {
        self.scratch = scratch
        self.time = time
        server = ScriptedTransport(script)
        let clock = time.clock
        queue = Queue(
            directory: scratch.url, limits: limits, diagnostics: diagnostics, clock: clock.wall, patience: 60)
        courier = Courier(
            queue: queue, transport: server,
            destination: Courier.Destination(server: URL(string: address)!, key: "wk_1"),
            clock: clock, backoff: Backoff(random: random), diagnostics: diagnostics, activity: activity)
    }

    /// Records so many events of an install.
    func record(_ count: Int, install: String = "i", size: Int = 0) throws {
        for _ in 0..<count {
            try queue.append(#"{"install_id":"\#(install)"}"#) { seq in
                #"{"id":"id-\#(seq)","seq":\#(seq),"pad":"\#(String(repeating: "x", count: size))"}"#
            }
        }
    }

    func heard(_ kind: Diagnostic.Kind) async -> [Diagnostic] {
        var heard: [Diagnostic] = []
        let stream = diagnostics.stream()
        diagnostics.post(Diagnostic(.misused, "the end"))
        for await diagnostic in stream {
            if diagnostic.message == "the end" { break }
            if diagnostic.kind == kind { heard.append(diagnostic) }
        }
        return heard
    }
}

extension ScriptedTransport {
    /// The whole library, in a process of the app or of its service extension, with its queue there and this server.
    func library(
        in directory: URL, isExtension: Bool = false, activity: AppActivity = AppActivity(),
        _ change: (inout BellwetherClient.Bellwether.Configuration) -> Void = { $0.extensionSeconds = 600 }
    ) throws -> BellwetherClient.Bellwether {
        var configuration = BellwetherClient.Bellwether.Configuration(
            server: try #require(URL(string: "https://b.example")), writeKey: "wk_1", directory: directory)
        configuration.patience = 60
        change(&configuration)
        return BellwetherClient.Bellwether(
            configuration, transport: self, clock: .system, activity: activity, isExtension: isExtension)
    }
}
