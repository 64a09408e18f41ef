import Foundation

@testable import BellwetherClient

/// A directory of one test's own, gone when nobody holds it any more.
final class QueueDirectory: Sendable {
    let url: URL

    /// In memory where there is such a place: for tests that wait for the disk too often.
    init(inMemory: Bool = false) {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let parent = inMemory && isThere ? memory : FileManager.default.temporaryDirectory
        url = parent.appendingPathComponent("bellwether-queue-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    func names(_ prefix: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).filter { $0.hasPrefix(prefix) }
            .sorted()
    }

    func bytes(_ name: String) -> [UInt8] { [UInt8](FileManager.default.contents(atPath: path(name)) ?? Data()) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: url.appendingPathComponent(name))
    }

    /// Puts in a file's place what cannot be opened by anybody, not even by the superuser.
    func loop(_ name: String) throws {
        try? FileManager.default.removeItem(atPath: path(name))
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: path(name))
    }

    /// A copy of it as it stands.
    func copy() throws -> QueueDirectory {
        let copy = QueueDirectory(inMemory: true)
        try FileManager.default.copyItem(at: url, to: copy.url)
        return copy
    }
}

extension Queue {
    /// Appends so many small events.
    func append(_ count: Int, source: String = "{}", size: Int = 0) throws {
        for _ in 0..<count { try append(source) { "{\"seq\":\($0)\(String(repeating: " ", count: size))}" } }
    }

    /// Appends one event from texts.
    @discardableResult
    func append(_ source: String, _ event: @escaping @Sendable (Int64) -> String) throws -> Int64 {
        guard let seq = try append(Entry(source, at: now, event)) else { throw QueueError.busy }
        return seq
    }

    /// The seqs of everything that waits, in order, settling it; and what was dropped, by reason.
    func drain(events: Int = 1000, bytes: Int = 512 << 10) throws -> (seqs: [Int64], drops: [Drop.Reason: Int64]) {
        var seqs: [Int64] = []
        var drops: [Drop.Reason: Int64] = [:]
        while let batch = try next(events: events, bytes: bytes) {
            seqs += batch.events.map(\.seq)
            for drop in batch.drops { drops[drop.reason, default: 0] += drop.count }
            try settle(batch)
        }
        return (seqs, drops)
    }
}

extension Entry {
    /// An event of texts.
    init(_ source: String, at time: Int64 = 0, _ event: @escaping @Sendable (Int64) -> String) {
        self.init(time: time, source: { Array(source.utf8) }, event: { Array(event($0).utf8) })
    }
}

/// A clock that a test sets.
final class SetClock: Sendable {
    private let date: Guarded<Date>

    init(_ date: Date = Date(timeIntervalSince1970: 1_800_000_000)) { self.date = Guarded(date) }

    var now: Date { date.withLock { $0 } }

    func jump(_ seconds: TimeInterval) { date.withLock { $0 += seconds } }
}
