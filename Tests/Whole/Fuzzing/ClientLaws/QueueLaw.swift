import Foundation

@testable import BellwetherClient

/// What holds for everything that may lie in the files of a queue.
///
/// The first byte of an input chooses the file. The rest is what lies in it.
package enum QueueLaw {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let id = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"
    private static let event = Array(#"{"id":"\#(id)","type":"notification.opened"}"#.utf8)
    private static let source = Array(#"{"install_id":"\#(id)"}"#.utf8)

    private enum File: UInt8, CaseIterable {
        case state, checkedState, segment, checkedSegment
    }

    /// Each law that the file broke, in words.
    package static func broken(by input: [UInt8]) -> [String] {
        guard let first = input.first else { return [] }
        let file = File.allCases[Int(first) % File.allCases.count]
        let content = Array(input.dropFirst())
        do {
            let place = try Scratch()
            switch file {
            case .state: return try faults(ofState: content, place)
            case .checkedState: return try faults(ofState: checked(state: content), place)
            case .segment: return try faults(ofSegment: content, place)
            case .checkedSegment: return try faults(ofSegment: checked(segment: content), place)
            }
        } catch {
            return ["the queue does not work: \(error)"]
        }
    }

    /// Whatever the state says, the queue has what it had, or less, and goes on.
    private static func faults(ofState content: [UInt8], _ place: Scratch) throws -> [String] {
        try place.write(content, "state")
        try place.write((1...3).flatMap { record($0).bytes }, "events-0000000000000001.log")
        let queue = place.queue()
        var broken: [String] = []
        for now in [now.milliseconds, 0, Moment.possible.lowerBound, Moment.possible.upperBound] {
            let pace = try queue.pace
            if !(0...Pace.longest).contains(pace.remaining(at: now)) { broken.append("a wait is longer than a day") }
            if !(0...Pace.mostFailures).contains(pace.failures) { broken.append("failures are no number") }
        }
        let drained = try drain(queue)
        if drained.batches.contains(where: { !isJSON($0) }) { broken.append("an envelope is no JSON") }
        if !Set(drained.seqs).isSubset(of: 1...3) { broken.append("there are events that nobody recorded") }
        return broken + drained.broken + (try faults(ofNext: queue))
    }

    /// What has a right checksum is read, the rest is passed over, and the queue goes on.
    private static func faults(ofSegment content: [UInt8], _ place: Scratch) throws -> [String] {
        try place.write(content, "events-0000000000000001.log")
        let queue = place.queue()
        var drained = try drain(queue)
        let written = Set(SegmentContents(content).records.map { Array($0.event) })
        if !drained.batches.flatMap(\.events).allSatisfy({ written.contains(Array($0.json)) }) {
            drained.broken.append("there are events that nobody wrote")
        }
        // Beyond the last number nothing can be recorded, nor was it before.
        let isFull = drained.seqs.last ?? 0 > 1 << 52 || SegmentContents(content).lastSeq ?? 0 > 1 << 52
        return drained.broken + (isFull ? [] : try faults(ofNext: queue))
    }

    /// An event that is recorded then arrives.
    private static func faults(ofNext queue: Queue) throws -> [String] {
        guard let seq = try queue.append(Entry(time: queue.now, source: { source }, event: { _ in event })) else {
            return ["nothing can be recorded"]
        }
        let drained = try drain(queue)
        return drained.broken + (drained.seqs == [seq] ? [] : ["what is recorded next is not sent"])
    }

    private struct Drained {
        var batches: [Batch] = []
        var seqs: [Int64] = []
        var dropped: Int64 = 0
        var broken: [String] = []
    }

    /// Sends everything.
    private static func drain(_ queue: Queue) throws -> Drained {
        var drained = Drained()
        while let batch = try queue.next(events: 10, bytes: Envelope.longest) {
            drained.batches.append(batch)
            drained.seqs += batch.events.map(\.seq)
            for drop in batch.drops {
                if !(1...Drop.most).contains(drop.count) { drained.broken.append("a drop counts nothing that can be") }
                drained.dropped += drop.count
            }
            _ = Envelope(batch, sentAt: Moment(now))
            try queue.settle(batch)
            guard drained.batches.count < 1000 else {
                drained.broken.append("the queue never ends")
                break
            }
        }
        if drained.seqs != Set(drained.seqs).sorted() { drained.broken.append("events come twice, or in no order") }
        return drained
    }

    private static func isJSON(_ batch: Batch) -> Bool {
        let bytes = Envelope(batch, sentAt: Moment(now)).bytes
        let envelope = JSONValue(parsingObject: String(decoding: bytes, as: UTF8.self))
        guard let events = envelope?["events"]?.list, events.allSatisfy(\.isObject) else { return false }
        return events.count == batch.events.count && envelope?["dropped"]?.list?.count ?? 0 == batch.drops.count
    }

    private static func record(_ seq: Int64) -> Record {
        Record(seq: seq, age: 0, time: now.milliseconds, source: source[...], event: event[...])
    }

    /// With the checksum behind it that makes it count.
    private static func checked(state: [UInt8]) -> [UInt8] {
        state + Array("\n\(Checksum.of(state[...]))\n".utf8)
    }

    /// With the checksum in each record that makes it count.
    private static func checked(segment: [UInt8]) -> [UInt8] {
        var bytes = segment
        var place = 0
        while place + Record.prefix <= bytes.count {
            guard bytes[place...].starts(with: Record.mark) else {
                place += 1
                continue
            }
            let length = Int(bytes.little(at: place + 4, as: UInt32.self))
            let end = min(place + Record.prefix + length, bytes.count)
            let sum = Checksum.of(bytes[(place + Record.prefix)..<end])
            for index in 0..<4 { bytes[place + 8 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            place = end
        }
        return bytes
    }

    /// A directory that is gone when nobody holds it any more: in memory, where there is such a place.
    private final class Scratch {
        private let url: URL

        init() throws {
            let memory = FileManager.default.isWritableFile(atPath: "/dev/shm")
            let parent = memory ? URL(fileURLWithPath: "/dev/shm") : FileManager.default.temporaryDirectory
            url = parent.appendingPathComponent("bellwether-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
            // Left by a process that had this number.
            try? FileManager.default.removeItem(at: url)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: url.appendingPathComponent(name))
        }

        func queue() -> Queue {
            Queue(directory: url, clock: { QueueLaw.now }, sync: { _ in }, mark: { _ in })
        }
    }
}
