internal import Foundation

extension Queue {
    /// What to deliver next: the oldest events, and what is to be told of drops. Nothing, if nothing
    /// waits. What it gives stays in the queue until it is settled.
    func next(
        events: Int, bytes: Int, within seconds: TimeInterval = Queue.patienceOfDelivery
    ) throws -> Batch? {
        try exclusively(within: seconds) { memory in
            var state = try load(&memory, afterLooks: Queue.mostLooks)
            try expire(&state, &memory)
            var batch = try read(after: state.settled, events: events, bytes: bytes)
            if batch.events.isEmpty, batch.last > state.settled {
                // Damaged from here to the end: told right away.
                settle(batch, &state, &memory)
                try keep(state, &memory)
                batch.first = batch.last + 1
            }
            if !state.drops.isEmpty {
                batch.drops = state.drops.tell()
                // What could change after it was told must not be told.
                do { try save(state, &memory) } catch { batch.drops = [] }
            }
            memory.inFlight = batch.events.isEmpty ? 0 : batch.last
            return batch.events.isEmpty && batch.drops.isEmpty ? nil : batch
        }
    }

    func read(after settled: Int64, events: Int, bytes: Int) throws -> Batch {
        let segments = try directory.segments()
        var filler = BatchFiller(first: settled + 1, events: events, bytes: bytes)
        for (index, segment) in segments.enumerated() {
            let end = index + 1 < segments.count ? segments[index + 1].first - 1 : nil
            if let end, end <= settled { continue }
            // What was before the oldest segment is not missing: it was settled, or somebody took it away.
            if filler.batch.last == settled, filler.batch.events.isEmpty, segment.first > settled + 1 {
                filler.begin(at: segment.first)
            }
            // One that cannot be read is as an empty one: what was in it is missing.
            let contents = SegmentContents(try directory.contents(of: segment) ?? [])
            for record in contents.records where record.seq > filler.batch.last && record.seq <= end ?? .max {
                guard filler.take(record) else { return filler.batch }
            }
            if let end { filler.pass(to: end) }
        }
        return filler.batch
    }

    /// Is done with a batch: its events are stored, refused for ever, or set aside, and its drops are known.
    func settle(_ batch: Batch) throws {
        try exclusively { memory in
            var state = try load(&memory)
            settle(batch, &state, &memory)
            memory.inFlight = 0
            let told = Set(batch.drops.map(\.id))
            state.drops.remove(told)
            memory.acknowledged.formUnion(told)
            try keep(state, &memory)
        }
    }

    /// Writes the state down and takes away what is done with. With the queue held.
    func keep(_ state: QueueState, _ memory: inout Memory) throws {
        let isSaved = (try? save(state, &memory)) != nil
        try prune(state, &memory)
        // Perhaps there is room now; else this process remembers it, and goes on.
        if !isSaved { try? save(state, &memory) }
    }

    /// Another process may have been faster, with the same events or fewer: what it has counted is not counted again.
    func settle(_ batch: Batch, _ state: inout QueueState, _ memory: inout Memory) {
        guard batch.last > state.settled else { return }
        let from = max(state.settled + 1, batch.first)
        let read = batch.events.lazy.filter { $0.seq >= from }.count
        let missing = batch.last - from + 1 - Int64(read)
        drop(missing, since: batch.events.first?.time, .unreadable, &state, &memory)
        state.settled = batch.last
    }

    /// Takes away the segments that hold nothing any more. With the queue held.
    func prune(_ state: QueueState, _ memory: inout Memory) throws {
        var segments = try directory.segments()
        if let newest = segments.last {
            let tail = try tail(state, &memory)
            // The name of the newest segment keeps the place of the seqs, should the state be lost.
            if tail.segment == newest, tail.endsWhole, tail.facts.size > 0, tail.lastSeq <= state.settled {
                let next = QueueDirectory.Segment(first: max(tail.lastSeq, memory.lastSeq) + 1)
                memory.tail = try begin(segment: next, after: tail)
                segments.append(next)
            }
        }
        for (segment, next) in zip(segments, segments.dropFirst()) where next.first - 1 <= state.settled {
            directory.remove(segment)
        }
    }
}
