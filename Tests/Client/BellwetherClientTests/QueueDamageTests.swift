import Foundation
import Testing

@testable import BellwetherClient

@Suite("The queue survives what becomes of its files")
struct QueueDamageTests {
    private let scratch = QueueDirectory(inMemory: true)

    @Test("a torn last record, cut at any byte, costs that event at most, and one is missed")
    func torn() throws {
        try Queue(directory: scratch.url).append(3)
        let name = scratch.names("events")[0]
        let whole = scratch.bytes(name)
        let length = whole.count / 3
        for cut in (whole.count - length)...whole.count {
            let copy = try scratch.copy()
            try copy.write(Array(whole[..<cut]), to: name)
            let queue = Queue(directory: copy.url)
            try queue.append(2)
            let (seqs, drops) = try queue.drain()
            switch cut {
            case whole.count: #expect(seqs == [1, 2, 3, 4, 5] && drops == [:])
            // Nothing of the third is there, so nobody can know of it.
            case whole.count - length: #expect(seqs == [1, 2, 3, 4] && drops == [:])
            default: #expect(seqs == [1, 2, 4, 5] && drops == [.unreadable: 1], "cut at \(cut)")
            }
        }
    }

    @Test("a torn end that nobody appends to keeps nothing from being delivered")
    func tornAlone() throws {
        try Queue(directory: scratch.url).append(3)
        let name = scratch.names("events")[0]
        try scratch.write(Array(scratch.bytes(name).dropLast(5)), to: name)
        let queue = Queue(directory: scratch.url)
        #expect(try queue.drain().seqs == [1, 2])
        try queue.append(1)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [4] && drops == [.unreadable: 1])
    }

    @Test("several damaged records at the end are each missed, and their seqs are not used again")
    func damagedEnd() throws {
        try Queue(directory: scratch.url).append(7)
        let name = scratch.names("events")[0]
        var bytes = scratch.bytes(name)
        let length = bytes.count / 7
        for record in 3..<7 { bytes[(record + 1) * length - 1] ^= 1 }
        try scratch.write(bytes, to: name)
        let queue = Queue(directory: scratch.url)
        try queue.append(2)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1, 2, 3, 8, 9] && drops == [.unreadable: 4])
    }

    @Test("any byte may be flipped: one event is lost at most, the others come, it is counted, and seqs go on")
    func flipped() throws {
        let limits = Queue.Limits(segment: 150)
        try Queue(directory: scratch.url, limits: limits).append(9)
        let names = scratch.names("events")
        #expect(names.count > 2)
        for name in names {
            let whole = scratch.bytes(name)
            for index in whole.indices {
                let copy = try scratch.copy()
                var bytes = whole
                bytes[index] ^= UInt8(1 << (index % 8))
                try copy.write(bytes, to: name)
                let queue = Queue(directory: copy.url, limits: limits)
                let (before, dropsBefore) = try queue.drain()
                try queue.append(2)
                let (after, dropsAfter) = try queue.drain()
                let seqs = before + after
                #expect(seqs == seqs.sorted() && Set(seqs).count == seqs.count)
                let lost = Set(1...9).subtracting(seqs)
                #expect(lost.count <= 1, "\(name) at \(index): \(seqs)")
                let counted = dropsBefore[.unreadable, default: 0] + dropsAfter[.unreadable, default: 0]
                #expect(counted == Int64(lost.count), "\(name) at \(index)")
            }
        }
    }

    @Test("random damage of every sort crashes nothing, and new events go on", arguments: 0..<40)
    func wild(seed: Int) throws {
        var numbers = Seeded(seed)
        let limits = Queue.Limits(bytes: 20_000, segment: 2_000)
        let first = Queue(directory: scratch.url, limits: limits)
        try first.append(60, size: 50)
        if let batch = try first.next(events: Int.random(in: 1...40, using: &numbers), bytes: .max) {
            try first.settle(batch)
        }
        for name in scratch.names() where Bool.random(using: &numbers) {
            var bytes = scratch.bytes(name)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &numbers)))
            case 1: bytes += (0..<200).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            case 2: for _ in 0..<20 where !bytes.isEmpty { bytes[bytes.indices.randomElement(using: &numbers)!] = 0xFF }
            default: try FileManager.default.removeItem(atPath: scratch.path(name)); continue
            }
            try scratch.write(bytes, to: name)
        }
        let queue = Queue(directory: scratch.url, limits: limits)
        _ = try Identity(queue)
        let seqs = try queue.drain(events: 7).seqs
        #expect(seqs == seqs.sorted() && Set(seqs).count == seqs.count && Set(seqs).isSubset(of: 1...60))
        let new = try (0..<50).map { _ in try queue.append("{}") { _ in "{}" } }
        #expect(try queue.drain().seqs == new)
        #expect(seqs.last ?? 0 < new[0])
    }

    @Test("a record of another version is passed over and counted")
    func otherVersion() throws {
        try Queue(directory: scratch.url).append(3)
        let name = scratch.names("events")[0]
        var bytes = scratch.bytes(name)
        bytes[bytes.count / 3 + 3] = 2
        try scratch.write(bytes, to: name)
        let (seqs, drops) = try Queue(directory: scratch.url).drain()
        #expect(seqs == [1, 3] && drops == [.unreadable: 1])
    }

    @Test("foreign files and directories are left alone, whatever their names")
    func foreign() throws {
        let queue = Queue(directory: scratch.url)
        try queue.append(2)
        let foreign = [
            "events-1.log", "events-.log", "events-0000000000000001.log.bak", "events-9999999999999999.log",
            "events-000000000000000x.log", "notes.txt", "set-aside.old",
        ]
        for name in foreign { try scratch.write(Array("hello".utf8), to: name) }
        let squatter = "events-0000000000000007.log"
        try FileManager.default.createDirectory(
            at: scratch.url.appendingPathComponent(squatter), withIntermediateDirectories: false)
        try queue.append(2)
        #expect(try queue.drain().seqs == [1, 2, 8, 9])
        for name in foreign { #expect(scratch.bytes(name) == Array("hello".utf8)) }
        #expect(scratch.names().contains(squatter))
    }

    @Test("an event that is too large is counted as dropped for its size")
    func tooLarge() throws {
        let queue = Queue(directory: scratch.url)
        #expect(throws: QueueError.self) { try queue.append(1, size: Record.longestBody) }
        try queue.append(1)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1] && drops == [.size: 1])
        #expect(QueueError.busy.reason == .unreadable)
        #expect(QueueError.system(call: "", path: "", code: ENOSPC).reason == .size)
        #expect(QueueError.system(call: "", path: "", code: EIO).reason == .unreadable)
    }

    @Test("an event that the disk does not confirm is there all the same: the developer is told, nothing is dropped")
    func unsynced() throws {
        let diagnostics = Diagnostics()
        let queue = Queue(
            directory: scratch.url, diagnostics: diagnostics,
            sync: { throw QueueError.system(call: "syncing", path: $0.path, code: EIO) })
        try queue.append(1)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1] && drops == [:])
        #expect(diagnostics.count(of: .notSynced) == 1 && diagnostics.count(of: .dropped) == 0)
    }

    @Test("a state that cannot be read now is not replaced by an empty one, and keeps nothing from being recorded")
    func unreadableState() throws {
        try Queue(directory: scratch.url).append(3)
        try Queue(directory: scratch.url).settle(
            #require(try Queue(directory: scratch.url).next(events: 2, bytes: .max)))
        let whole = scratch.bytes("state")
        try scratch.loop("state")
        let queue = Queue(directory: scratch.url)
        #expect(throws: QueueError.self) { try queue.next(events: 1, bytes: .max) }
        try queue.append(1)
        #expect(throws: QueueError.self) { try queue.next(events: 1, bytes: .max) }
        try FileManager.default.removeItem(atPath: scratch.path("state"))
        try scratch.write(whole, to: "state")
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [3, 4] && drops == [:])
    }

    @Test(
        "a state with a right checksum and numbers that no queue writes is as good as none",
        arguments: [
            ("settled", "9223372036854775807"), ("settled", "-1"), ("reading", "9223372036854775807"),
            ("time", "-9223372036854775808"), ("count", "9223372036854775807"), ("count", "-1"),
            ("since", "9223372036854775807"), ("failures", "9223372036854775807"), ("failures", "-1"),
            ("notBefore", "-9223372036854775808"), ("notBefore", "9223372036854775807"),
        ])
    func foreignState(member: String, value: String) throws {
        try Queue(directory: scratch.url).append(3)
        func write(_ members: [String: String]) throws {
            func number(_ name: String, _ usual: String) -> String { "\"\(name)\":\(members[name] ?? usual)" }
            let counted = "\(number("count", "2")),\(number("since", "5"))"
            let drop = #"{"id":"\#(UUID())",\#(counted),"reason":"age","isTold":false}"#
            let state = Array(
                """
                {"clock":{\(number("reading", "1")),\(number("time", "5"))},"drops":{"entries":[\(drop)]},\
                "pace":{\(number("failures", "1")),\(number("notBefore", "7")),"since":5},\(number("settled", "1"))}
                """.utf8)
            try scratch.write(state + Array("\n\(Checksum.of(state[...]))\n".utf8), to: "state")
        }
        try write([:])
        #expect(try Queue(directory: scratch.url).pace.failures == 1)
        try write([member: value])
        let queue = Queue(directory: scratch.url)
        #expect(try queue.pace == Pace())
        try queue.append(1)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1, 2, 3, 4] && drops == [:])
    }

    @Test("a state that can never be read is given up by deliveries after some looks, and everything goes on")
    func lostState() throws {
        try Queue(directory: scratch.url).append(3)
        try Queue(directory: scratch.url).settle(
            #require(try Queue(directory: scratch.url).next(events: 3, bytes: .max)))
        try scratch.loop("state")
        let diagnostics = Diagnostics()
        let queue = Queue(directory: scratch.url, diagnostics: diagnostics)
        for look in 1..<Queue.mostLooks {
            #expect(throws: QueueError.self, "look \(look)") { try queue.next(events: 1, bytes: .max) }
            try queue.append(1)
        }
        #expect(diagnostics.count(of: .stateLost) == 0)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == Array(4...7) && drops == [:])
        #expect(diagnostics.count(of: .stateLost) == 1)
        let again = Queue(directory: scratch.url, diagnostics: diagnostics)
        try again.append(1)
        #expect(try again.drain().seqs == [8])
        #expect(diagnostics.count(of: .stateLost) == 1, "there is a new one")
    }

    @Test("an install id that can never be read costs a minute's events, which are counted, and is replaced")
    func lostIdentity() throws {
        let queue = Queue(directory: scratch.url)
        let first = try Identity(queue).installID
        try scratch.loop("install")
        let (uptime, diagnostics) = (Guarded(1000.0), Diagnostics())
        let recorder = QueueRecorder(
            queue, Guarded(Source()), diagnostics, nil, uptime: { uptime.withLock { $0 } })
        let at = Moment(milliseconds: 1_800_000_000_000)
        func record() -> Recorded {
            recorder.record(Draft(id: EventID(at: at), type: .opened, at: at, notification: [], members: []))
        }
        #expect(record() == .lost)
        uptime.withLock { $0 += QueueRecorder.hope - 1 }
        #expect(record() == .lost)
        uptime.withLock { $0 += 1 }
        #expect(record() == .kept)
        #expect(record() == .kept)
        #expect(diagnostics.count(of: .notRecorded) == 2)
        let second = try Identity(Queue(directory: scratch.url)).installID
        #expect(second != first)
        let batch = try #require(try queue.next(events: 10, bytes: .max))
        #expect(batch.events.map(\.seq) == [1, 2] && batch.drops.map(\.count) == [2])
        let source = String(decoding: try #require(batch.sources.first), as: UTF8.self)
        #expect(source.contains(second.uuidString.lowercased()))
    }

    @Test("the bound holds also while the state cannot be read")
    func boundWithoutState() throws {
        let limits = Queue.Limits(bytes: 10_000, segment: 1_000)
        try Queue(directory: scratch.url, limits: limits).append(3)
        try scratch.write(QueueState().bytes, to: "state")
        try scratch.loop("state")
        let queue = Queue(directory: scratch.url, limits: limits)
        try queue.append(200, size: 50)
        let size = scratch.names("events").reduce(0) { $0 + scratch.bytes($1).count }
        #expect(size <= 11_000)
        let (seqs, drops) = try queue.drain()
        #expect(seqs.last == 203 && drops == [.size: 203 - Int64(seqs.count)])
    }

    @Test("a segment that cannot be read costs what is in it, and nothing else", arguments: [0, 1, 2])
    func unreadableSegment(place: Int) throws {
        let limits = Queue.Limits(segment: 150)
        try Queue(directory: scratch.url, limits: limits).append(9)
        let names = scratch.names("events")
        let name = [names[0], names[1], names[names.count - 1]][place]
        try scratch.loop(name)
        let queue = Queue(directory: scratch.url, limits: limits)
        try queue.append(2)
        let (seqs, drops) = try queue.drain()
        #expect(seqs == seqs.sorted() && seqs.count >= 7 && seqs.suffix(2).allSatisfy { $0 > 9 })
        #expect(drops[.unreadable, default: 0] >= 1)
    }

    @Test("a directory that is taken away at work is made anew, and seqs go on")
    func takenAway() throws {
        let queue = Queue(directory: scratch.url)
        try queue.append(3)
        try FileManager.default.removeItem(at: scratch.url)
        try queue.append(2)
        #expect(try queue.drain().seqs == [4, 5])
    }

    @Test("where no directory can be made, appending says why")
    func nowhere() throws {
        let queue = Queue(directory: URL(fileURLWithPath: "/proc/nowhere/queue"))
        let error = #expect(throws: QueueError.self) { try queue.append(1) }
        #expect(error.map { "\($0)" }?.contains("/proc/nowhere/queue failed: ") == true)
        #expect(error?.isFull == false)
    }
}

/// Numbers that are the same each time.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
