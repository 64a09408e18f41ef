internal import Foundation

extension Queue {
    /// The next batch to deliver: the oldest events, and drops to report. Nil if nothing waits. The batch stays in the
    /// queue until it is settled.
    func next(
        events: Int, bytes: Int, within seconds: TimeInterval = Queue.patienceOfDelivery
    ) throws -> Batch? {
        try exclusively(within: seconds) { memory in
            if directory.isDropping {
                try discard(&memory)
                return nil
            }
            var state = try load(&memory, afterLooks: Queue.mostLooks)
            try expire(&state, &memory)
            var batch = try read(after: state.settled, events: events, bytes: bytes)
            if batch.events.isEmpty, batch.last > state.settled {
                // Everything from here to the end is damaged: report it right away.
                settle(batch, &state, &memory)
                try keep(state, &memory)
                batch.first = batch.last + 1
            }
            if !state.drops.isEmpty {
                batch.drops = state.drops.tell()
                // Do not send drops that are not saved: they could still change after the server knows them.
                do { try save(state, &memory) } catch { batch.drops = [] }
                batch.install = (try? Identity(reading: directory))?.installID
            }
            memory.inFlight = batch.events.isEmpty ? 0 : batch.last
            return batch.events.isEmpty && batch.drops.isEmpty ? nil : batch
        }
    }

    /// Whether this batch has yet to be delivered: another process may have settled it, or the person had it dropped.
    func isWaiting(_ batch: Batch) throws -> Bool {
        try exclusively { memory in try !directory.isDropping && batch.last > load(&memory).settled }
    }

    func read(after settled: Int64, events: Int, bytes: Int) throws -> Batch {
        let segments = try directory.segments()
        var filler = BatchFiller(first: settled + 1, events: events, bytes: bytes)
        for (index, segment) in segments.enumerated() {
            let end = index + 1 < segments.count ? segments[index + 1].first - 1 : nil
            if let end, end <= settled { continue }
            // Events before the oldest segment are not missing: they were settled, or someone deleted them.
            if filler.batch.last == settled, filler.batch.events.isEmpty, segment.first > settled + 1 {
                filler.begin(at: segment.first)
            }
            // Treat an unreadable segment as empty: its events are missing.
            let contents = SegmentContents(try directory.contents(of: segment) ?? [])
            for record in contents.records where record.seq > filler.batch.last && record.seq <= end ?? .max {
                guard filler.take(record) else { return filler.batch }
            }
            if let end { filler.pass(to: end) }
        }
        return filler.batch
    }

    /// Settles a batch: its events are stored, refused for ever, or set aside, and the server knows its drops.
    func settle(_ batch: Batch) throws {
        try exclusively { memory in
            var state = try load(&memory)
            let told = Set(batch.drops.map(\.id))
            state.drops.remove(told)
            memory.acknowledged.formUnion(told)
            try finish(batch, &state, &memory)
        }
    }

    /// Settles the events of a batch. With the queue held.
    func finish(_ batch: Batch, _ state: inout QueueState, _ memory: inout Memory) throws {
        settle(batch, &state, &memory)
        memory.inFlight = 0
        try keep(state, &memory)
    }

    /// Writes the state and removes settled segments. With the queue held.
    func keep(_ state: QueueState, _ memory: inout Memory) throws {
        let isSaved = (try? save(state, &memory)) != nil
        try prune(state, &memory)
        // Perhaps there is room now. If not, this process remembers the state and continues.
        if !isSaved { try? save(state, &memory) }
    }

    /// Another process may have settled some or all of these events first: do not count them again.
    func settle(_ batch: Batch, _ state: inout QueueState, _ memory: inout Memory) {
        guard batch.last > state.settled else { return }
        let from = max(state.settled + 1, batch.first)
        let read = batch.events.lazy.filter { $0.seq >= from }.count
        let missing = batch.last - from + 1 - Int64(read)
        drop(missing, since: batch.events.first?.time, .unreadable, &state, &memory)
        state.settled = batch.last
    }

    /// Removes segments without waiting events. With the queue held.
    func prune(_ state: QueueState, _ memory: inout Memory) throws {
        var segments = try directory.segments()
        if let newest = segments.last {
            let tail = try tail(state, &memory)
            // The name of the newest segment preserves the last seq in case the state is lost.
            if tail.segment == newest, tail.endsWhole, tail.facts.size > 0, tail.lastSeq <= state.settled {
                let next = QueueDirectory.Segment(first: max(tail.lastSeq, memory.lastSeq) + 1)
                memory.tail = try begin(segment: next, after: tail)
                segments.append(next)
            }
        }
        for (segment, next) in zip(segments, segments.dropFirst()) where next.first - 1 <= state.settled {
            try? directory.remove(segment)
        }
    }
}
