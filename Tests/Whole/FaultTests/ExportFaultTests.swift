import Foundation
import FunnelOracle
import Postgres
import ProjectFolder
import TestSupport
import Testing

/// `make kills` kills two hundred of them.
@Suite("An export is killed, again and again, while events come in")
struct ExportFaultTests {
    /// A fifth of the kills that were asked for.
    private static let kills =
        ProcessInfo.processInfo.environment["BELLWETHER_KILLS"].flatMap { Int($0) }.map { $0 / 5 } ?? 25

    /// An app with events that come in all the time, in small batches and in large ones: fewer than an export prints
    /// on a busy machine.
    private static func busyShop(_ body: (ProjectedShop, Load) throws -> Void) throws {
        try ProjectedShop.open("--only", "ingest") { shop in
            let service = shop.service
            let load = Load(
                [.init(sizes: 1...5, pause: 0.05), .init(sizes: 20...60, pause: 0.5)], through: [{ service.client() }],
                key: shop.app.secret, seed: 47)
            #expect(load.isServed(40))
            try body(shop, load)
        }
    }

    /// All that the log has, by an export that nobody kills. It has each event once.
    private static func whole(_ shop: ProjectedShop) throws -> [Substring] {
        let lines = try shop.bellwether.trusted("export", "--format", "ndjson").split(separator: "\n")
        let ids = try lines.map { try ExportedEvent($0).id }
        let stored: [String] = try shop.database.column("SELECT event_id::text FROM log.event")
        #expect(ids.count == stored.count && Set(ids) == Set(stored))
        return lines
    }

    private static func compare(_ kept: [Substring], with whole: [Substring]) {
        #expect(Set(whole).subtracting(kept).isEmpty, "missing")
        #expect(kept.count == Set(kept).count, "repeated")
        #expect(kept == whole, "\(kept.count) lines kept, the log has \(whole.count)")
    }

    @Test(
        "a pipe is cut anywhere, within a line too: who goes on by its last whole batch has each event once, in order")
    func pipe() throws {
        try Self.busyShop { shop, load in
            var follower = PipeFollower(shop.bellwether)
            var numbers = SeededNumbers(seed: 47)
            while follower.cuts < Self.kills {
                let bytes = Int.random(in: 1...(1 << Int.random(in: 4...17, using: &numbers)), using: &numbers)
                // A reader dies with what it had, or lives on and reads what the pipe still holds.
                let ending = PipeFollower.Ending.allCases.randomElement(using: &numbers)!
                // It is not killed if there is less.
                if try follower.follow(killedAfter: bytes, ending) == false { try #require(load.isServed(10)) }
            }
            load.stop()
            try follower.follow()
            let whole = try Self.whole(shop)
            Self.compare(follower.lines, with: whole)
            #expect(follower.torn > 0 && follower.halfBatches > 0)
            FaultLength.report(
                """
                \(follower.cuts) exports killed, \(follower.torn) of them within a line, \(follower.halfBatches) within a \
                batch: \(whole.count) events, \(Set(whole).subtracting(follower.lines).count) missing, \
                \(follower.lines.count - Set(follower.lines).count) repeated
                """)
        }
    }

    @Test("the command of the guide is killed at its named points, and simply repeated: its files have each event once")
    func guide() throws {
        let guide = try ProjectFolder.text(of: "Docs/Analysts.md").components(separatedBy: "```sh\n").dropFirst()
        let command = try #require(
            guide.compactMap { $0.components(separatedBy: "\n```").first }.first {
                $0.contains("bellwether export --from")
            })
        try Self.busyShop { shop, load in
            let scratch = TemporaryDirectory()
            var (operator_, kills) = (shop.bellwether, 0)
            operator_.runner = ["sh", "-c", #"cd "$0" && PATH="${1%/*}:$PATH" && \#(command)"#, scratch.path]
            // A third of them at each point.
            for _ in 0..<max(3, Self.kills / 3) {
                for point in ["events printed", "all printed", "position written"] {
                    let ended = try operator_.dying(at: point).run()
                    #expect(ended.status == 128 + SIGKILL, "\(point): \(ended)")
                    kills += 1
                    try #require(load.isServed(1))
                }
            }
            load.stop()
            let ended = try operator_.run()
            #expect(ended.status == 0, "\(ended)")
            let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0 != "position" }
            let parts = try files.map { name in
                let position = try #require(Int(name.dropFirst("events-".count).dropLast(".ndjson".count)))
                return (position, try String(contentsOfFile: scratch(name), encoding: .utf8).split(separator: "\n"))
            }
            let kept = parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
            let whole = try Self.whole(shop)
            Self.compare(kept, with: whole)
            #expect(parts.count > 3)
            FaultLength.report("\(kills) exports into files killed: \(parts.count) files of \(whole.count) events")
        }
    }
}

/// What a line of NDJSON says of itself.
private struct ExportedEvent {
    let batch: Int64
    let id: String

    init(_ line: Substring) throws {
        let members = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        batch = try #require(members["batch"] as? Int64)
        id = try #require(members["event_id"] as? String)
    }
}

/// Keeps what an export prints into a pipe, as `Docs/Analysts.md` says: what was cut off comes again with its batch.
private struct PipeFollower {
    /// What is left of an export that is killed.
    enum Ending: CaseIterable {
        /// The bytes read before it was killed, up to a byte or up to a line's end.
        case bytes, line
        /// These, and what the pipe still held.
        case drained
    }

    private(set) var lines: [Substring] = []
    private(set) var cuts = 0
    private(set) var torn = 0
    private(set) var halfBatches = 0
    private let bellwether: Bellwether
    private let scratch = TemporaryDirectory()
    private var position: Int64 = 0

    init(_ bellwether: Bellwether) { self.bellwether = bellwether }

    /// Exports what is new. Kills the export once so many bytes of it were read, and says whether it was.
    @discardableResult
    mutating func follow(killedAfter most: Int = .max, _ ending: Ending = .drained) throws -> Bool {
        let next = scratch("next")
        try? FileManager.default.removeItem(atPath: next)
        let (text, status) = try printed(["--from", "\(position)", "--next", next], killedAfter: most, ending)
        if let told = try? String(contentsOfFile: next, encoding: .utf8) {
            // Everything was printed, and there was less than what the kill waited for.
            position = try #require(Int64(told.dropLast()))
            lines += text.split(separator: "\n")
            return false
        }
        try #require(status == 128 + SIGKILL, "it ended with \(status)")
        cuts += 1
        if text.last != "\n" { torn += 1 }
        let whole = text.lastIndex(of: "\n").map { text[..<$0].split(separator: "\n") } ?? []
        guard let last = try whole.last.map({ try ExportedEvent($0).batch }) else { return true }
        let kept = try whole.prefix { try ExportedEvent($0).batch != last }
        if kept.count < whole.count - 1 { halfBatches += 1 }
        lines += kept
        position = last - 1
        return true
    }

    /// What it printed, and how it ended.
    private func printed(_ words: [String], killedAfter most: Int, _ ending: Ending) throws -> (String, Int32) {
        let (reader, writer) = try smallPipe()
        defer { close(reader) }
        let export = try bellwether.start(["export", "--format", "ndjson"] + words, output: writer)
        close(writer)
        var bytes: [UInt8] = []
        /// Reads so much, or to the end; whether it was so much.
        func isRead(until count: Int) -> Bool {
            while bytes.count < count {
                var buffer = [UInt8](repeating: 0, count: min(4096, count - bytes.count))
                let length = read(reader, &buffer, buffer.count)
                guard length > 0 else { return false }
                bytes += buffer[..<length]
            }
            return true
        }
        var isFull = isRead(until: most)
        while isFull, ending == .line, bytes.last != UInt8(ascii: "\n") { isFull = isRead(until: bytes.count + 1) }
        if isFull {
            export.signal(SIGKILL)
            if ending == .drained { _ = isRead(until: .max) }
        }
        return (String(decoding: bytes, as: UTF8.self), try export.wait().status)
    }

    /// A pipe of a page: who writes cannot be far ahead of who reads. It has a name only to be made, so that no other
    /// process ever inherits it.
    private func smallPipe() throws -> (reader: Int32, writer: Int32) {
        let path = scratch("pipe")
        unlink(path)
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        // Linux's own calls are not in Glibc's module.
        let setPipeSize: Int32 = 1031
        try #require(fcntl(reader, F_SETFL, 0) == 0 && fcntl(writer, setPipeSize, 4096) == 4096)
        return (reader, writer)
    }
}
