import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("The client's queue, when processes and disks fail")
struct ClientQueueFaultTests {
    @Test("several processes record at once and are killed: all that was recorded is there once, in order")
    func killed() throws {
        let scratch = TemporaryDirectory()
        let kills = Lock(0)
        let recordedText = { @Sendable in (try? String(contentsOfFile: scratch("recorded"), encoding: .utf8)) ?? "" }
        // Longer where the machine is busy, until enough has happened.
        let (usual, longest) = (Deadline.after(seconds: 4), Deadline.after(seconds: 120))
        let isOver = { @Sendable in
            longest.hasPassed || usual.hasPassed && kills.withLock { $0 } > 5 && recordedText().utf8.count > 10_000
        }
        let binary = (TestSupport.Bellwether.path as NSString).deletingLastPathComponent + "/ClientProcess"
        let workers = (0..<3).map { number in
            Worker(name: "phone-\(number)") {
                var life = 0.8
                while !isOver() {
                    let words = [binary, "record", scratch("queue"), "http://127.0.0.1:1", "key", scratch("recorded")]
                    guard let child = try? ChildProcess(words) else { continue }
                    _ = eventually(within: .random(in: 0.1...life)) { !child.isRunning }
                    child.signal(SIGKILL)
                    _ = try? child.wait()
                    kills.withLock { $0 += 1 }
                    life = min(life * 1.05, 5)
                }
            }
        }
        for worker in workers { worker.join() }

        let queue = Queue(directory: URL(fileURLWithPath: scratch("queue")))
        var (stored, seqs, missing) = ([String](), [Int64](), Int64(0))
        while let batch = try queue.next(events: 1000, bytes: 512 << 10) {
            for event in batch.events {
                let object = try JSONSerialization.jsonObject(with: Data(event.json)) as? [String: Any]
                let notification = object?["notification"] as? [String: Any]
                stored.append(try #require(notification?["id"] as? String))
                #expect(object?["seq"] as? Int64 == event.seq)
            }
            seqs += batch.events.map(\.seq)
            missing += batch.drops.reduce(0) { $0 + $1.count }
            try queue.settle(batch)
        }
        let recorded = Set(recordedText().split(separator: "\n").map(String.init))
        let killed = kills.withLock { $0 }
        #expect(recorded.count > 100 && killed > 5)
        #expect(recorded.subtracting(stored).isEmpty, "recorded and lost")
        #expect(Set(stored).subtracting(recorded).count <= killed)
        #expect(Set(stored).count == stored.count, "twice")
        #expect(seqs == seqs.sorted() && Set(seqs).count == seqs.count)
        #expect(missing <= killed, "at most what was being written")
        for (_, ids) in Dictionary(grouping: stored, by: { $0.prefix { $0 != "-" } + $0.dropFirst(6).prefix(9) }) {
            let numbers = ids.compactMap { $0.split(separator: "-").last.flatMap { Int($0) } }
            #expect(numbers == numbers.sorted(), "each process's events stand in its order")
        }
    }

    @Test(
        "a full disk costs the events that do not fit, each is counted, and what is there stays and is delivered",
        .enabled(if: SmallDisk.isAllowed, "mounting is not allowed here"))
    func fullDisk() throws {
        let disk = try #require(SmallDisk(kilobytes: 300))
        let reports = Diagnostics()
        let url = URL(fileURLWithPath: disk.path("queue"))
        let queue = Queue(directory: url, diagnostics: reports)
        let event = Array(#"{"pad":"\#(String(repeating: "x", count: 500))"}"#.utf8)
        var (kept, refused) = ([Int64](), 0)
        while refused < 20 {
            do {
                kept.append(try queue.append(source: [123, 125]) { _ in event })
            } catch let error as QueueError {
                #expect(error.isFull, "\(error)")
                refused += 1
            }
        }
        #expect(kept.count > 200)
        #expect(kept == Array(1...Int64(kept.count)), "what was refused took no place")
        var (delivered, dropped) = ([Int64](), Int64(0))
        while let batch = try queue.next(events: 50, bytes: 512 << 10) {
            delivered += batch.events.map(\.seq)
            dropped += batch.drops.reduce(0) { $0 + $1.count }
            try queue.settle(batch)
        }
        #expect(delivered == kept)
        #expect(dropped == Int64(refused))
        #expect(try queue.append(source: [123, 125]) { _ in event } == Int64(kept.count + 1), "there is room again")
    }

    @Test(
        "who opts out or has everything deleted on a full disk is obeyed at once",
        .enabled(if: SmallDisk.isAllowed, "mounting is not allowed here"), arguments: [false, true])
    func fullDiskOptOut(isDeleted: Bool) throws {
        let disk = try #require(SmallDisk(kilobytes: 300))
        let url = URL(fileURLWithPath: disk.path("queue"))
        let queue = Queue(directory: url)
        let event = Array(#"{"pad":"\#(String(repeating: "x", count: 500))"}"#.utf8)
        let id = try Identity(queue).installID
        for size in [500, 1] {
            let event = Array(repeating: UInt8(ascii: " "), count: size)
            while (try? queue.append(source: [123, 125], event: { _ in event })) != nil {}
        }
        let other = Queue(directory: url)
        if isDeleted {
            #expect(try other.deleteEverything(and: []) == id)
        } else {
            try other.optOut(dropping: true)
        }
        // What did not fit is counted, and is still told; no event is left.
        for queue in [queue, Queue(directory: url)] {
            #expect(try queue.next(events: 50, bytes: 512 << 10)?.events.isEmpty != false)
        }
        #expect(isDeleted || Queue(directory: url).directory.isOptedOut)
        #expect(isDeleted == ((try? queue.append(source: [123, 125]) { _ in event }) != nil))
    }

    @Test(
        "on a disk that may only be read, what waits is delivered once by a process, and nothing is recorded",
        .enabled(if: SmallDisk.isAllowed, "mounting is not allowed here"))
    func readOnly() throws {
        let disk = try #require(SmallDisk(kilobytes: 300))
        let url = URL(fileURLWithPath: disk.path("queue"))
        let event = Array("{}".utf8)
        for _ in 0..<3 { try Queue(directory: url).append(source: event) { _ in event } }
        try disk.forbidWriting()
        let queue = Queue(directory: url)
        #expect(throws: QueueError.self) { try queue.append(source: event) { _ in event } }
        let batch = try #require(try queue.next(events: 10, bytes: 1000))
        #expect(batch.events.map(\.seq) == [1, 2, 3])
        try? queue.settle(batch)
        #expect(try queue.next(events: 10, bytes: 1000) == nil)
    }

}

extension Queue {
    /// Appends an event, which must not wait for anybody.
    @discardableResult
    fileprivate func append(
        source: [UInt8], event: @escaping @Sendable (Int64) -> [UInt8]
    ) throws -> Int64 {
        guard let seq = try append(Entry(time: now, source: { source }, event: event)) else { throw QueueError.busy }
        return seq
    }
}
