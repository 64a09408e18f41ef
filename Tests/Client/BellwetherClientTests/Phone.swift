import CatalogueSupport
import Envelopes
import Foundation
import ServiceRuntime
import Telemetry
import Testing
import Values

@testable import BellwetherClient

/// A phone with the library on it: what its doors record, read as the service reads it, at times that the test sets.
final class Phone: Sendable {
    private final class Memory: Recorder {
        let drafts = Lock<[Draft]>([])
        let answer = Lock(Recorded.kept)
        func record(_ draft: Draft) -> Recorded {
            let answer = answer.withLock { $0 }
            if answer != .lost { drafts.withLock { $0.append(draft) } }
            return answer
        }
    }

    private struct Time {
        var wall = Date(timeIntervalSince1970: 1_795_167_010.001)  // 2026-11-20T09:30:10.001Z
        var uptime: TimeInterval = 1000
    }

    let bellwether: BellwetherClient.Bellwether
    let reports = Diagnostics()
    private let memory = Memory()
    private let time: Lock<Time>

    init(
        keys: BellwetherClient.Bellwether.PayloadKeys = .init(), swept: URL? = nil,
        center: NotificationCenter = NotificationCenter(), system: SystemCenter? = nil, permission: URL? = nil,
        appOpens: AppOpens? = nil, mediaRules: BellwetherClient.Bellwether.MediaRules = .init(),
        mediaSize: @escaping @Sendable (URL) async -> Int? = { _ in nil }, recordsSummaryArgument: Bool = false
    ) {
        let time = Lock(Time())
        self.time = time
        let clock = DeviceClock(
            wall: { time.withLock { $0.wall } }, uptime: { time.withLock { $0.uptime } })
        bellwether = BellwetherClient.Bellwether(
            recorder: memory, reports: reports, clock: clock, keys: keys, swept: SweptNotifications(file: swept),
            activity: AppActivity(center: center), system: system, memory: PermissionMemory(file: permission),
            appOpens: appOpens, mediaRules: mediaRules, mediaSize: mediaSize,
            recordsSummaryArgument: recordsSummaryArgument)
    }

    /// Time goes by.
    func wait(_ seconds: TimeInterval) {
        time.withLock { time in
            time.wall += seconds
            time.uptime += seconds
        }
    }

    /// What becomes of events from now on.
    func set(recorded: Recorded) { memory.answer.withLock { $0 = recorded } }

    /// Somebody sets the clock.
    func set(clock: Date) { time.withLock { $0.wall = clock } }

    var drafts: [Draft] { memory.drafts.withLock { $0 } }

    /// What was recorded, as the service takes it: every event of it.
    func events(sourceLocation: SourceLocation = #_sourceLocation) throws -> [Event] {
        let texts = drafts.enumerated().map { String(decoding: $1.json(seq: Int64($0 + 1)), as: UTF8.self) }
        let envelope = """
            {"source":{"install_id":"8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"},"events":[\(texts.joined(separator: ","))]}
            """
        let decoded = try EnvelopeDecoder().decode(
            body: Array(envelope.utf8), receivedAt: Timestamp(microseconds: 4_000_000_000_000_000))
        return decoded.items.enumerated().compactMap { index, item in
            switch item {
            case .event(let event): return event
            case .rejected(_, _, let rejection):
                Issue.record("\(rejection): \(texts[index])", sourceLocation: sourceLocation)
                return nil
            }
        }
    }

    /// The notification of a payload, as an event about it describes it.
    func notification(
        of json: String, request: BellwetherClient.Bellwether.Request = .init(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Telemetry.Notification {
        bellwether.contentExtension(showed: bellwether.push(try payload(json), request: request))
        let event = try #require(events(sourceLocation: sourceLocation).last, sourceLocation: sourceLocation)
        return event.notification
    }

    /// The push of a payload.
    func push(
        _ json: String, request: BellwetherClient.Bellwether.Request = .init()
    ) throws -> BellwetherClient.Bellwether.Push {
        bellwether.push(try payload(json), request: request)
    }
}

/// The dictionary of a payload as the system hands it over.
func payload(_ json: String) throws -> [AnyHashable: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
}

extension Event {
    var extraText: String? { extra.map { String(decoding: $0, as: UTF8.self) } }
}

/// Waits for what a task brings about, and leaves it the thread meanwhile.
func comes(_ condition: @Sendable () -> Bool) async -> Bool {
    for _ in 0..<12_000 {
        if condition() { return true }
        try? await Task.sleep(nanoseconds: 10_000_000)
    }
    return condition()
}
