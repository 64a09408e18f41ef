internal import Foundation

extension Queue.Limits {
    /// Limits the developer's values to a sensible range: at least one segment, at most a century.
    init(maximumBytes: Int, maximumDays: Int) {
        self.init()
        bytes = max(maximumBytes, segment)
        age = Int64(min(max(maximumDays, 0), 36_500)) * 86_400_000
    }
}

extension Queue {
    /// Drops the oldest segments while the total is too large. With the queue held.
    func makeRoom(_ memory: inout Memory) throws {
        let segments = try directory.segments()
        var sizes = segments.map { FileFacts(path: directory.path(of: $0))?.size ?? 0 }[...]
        // Reserve room for the segment that is about to be filled.
        guard sizes.reduce(0, +) + limits.segment > limits.bytes else { return }
        // The limit holds, even if the state is lost.
        var state = try load(&memory, afterLooks: 0)
        for (segment, next) in zip(segments, segments.dropFirst()) {
            guard sizes.reduce(0, +) + limits.segment > limits.bytes else { break }
            // An event on its way to the server would be counted as dropped and also stored. So keep it for a while, as
            // long as the queue is at most a quarter over its limit.
            let isInFlight = segment.first <= memory.inFlight && memory.inFlight > state.settled
            if isInFlight, sizes.reduce(0, +) + limits.segment <= limits.bytes + limits.bytes / 4 { break }
            drop(segment, before: next, &state, &memory)
            sizes.removeFirst()
        }
        // If the state cannot be written now, this process remembers it.
        try? keep(state, &memory)
    }

    private func drop(
        _ segment: QueueDirectory.Segment, before next: QueueDirectory.Segment, _ state: inout QueueState,
        _ memory: inout Memory
    ) {
        let bytes = (try? directory.contents(directory.path(of: segment), limit: Queue.longestSegment)) ?? nil
        let waiting = SegmentContents(bytes ?? []).records.filter { $0.seq > state.settled && $0.seq < next.first }
        let count = Int64(waiting.count)
        let missing = max(0, next.first - max(segment.first, state.settled + 1) - count)
        drop(count, since: waiting.first?.time, .size, &state, &memory)
        drop(missing, since: waiting.first?.time, .unreadable, &state, &memory)
        state.settled = max(state.settled, next.first - 1)
    }

    /// Drops events that have waited too long. With the queue held.
    func expire(_ state: inout QueueState, _ memory: inout Memory) throws {
        let now = now
        if state.clock.isDue(at: now) {
            state.clock.advance(to: now, atLeast: try tail(state, &memory).lastAge)
            try? save(state, &memory)
        }
        let reading = state.clock.reading(at: now)
        var batch = try read(after: state.settled, events: 1, bytes: .max)
        while let oldest = batch.events.first, reading - oldest.age > limits.age {
            batch = try read(after: state.settled, events: 1000, bytes: .max)
            let old = batch.prefix(batch.events.prefix { reading - $0.age > limits.age }.count)
            drop(Int64(old.events.count), since: oldest.time, .age, &state, &memory)
            settle(old, &state, &memory)
            try keep(state, &memory)
            batch = try read(after: state.settled, events: 1, bytes: .max)
        }
    }

    /// Counts dropped events, and reports them.
    func drop(
        _ count: Int64, since: Int64?, _ reason: Drop.Reason, _ state: inout QueueState, _ memory: inout Memory
    ) {
        guard count > 0 else { return }
        state.drops.add(count, since: since, reason: reason)
        // Kept here until it is written.
        memory.unrecorded.add(count, since: since, reason: reason)
        tell(count, reason)
    }

    /// Tells the developer of dropped events.
    func tell(_ count: Int64, _ reason: Drop.Reason) {
        let words =
            switch reason {
            case .age: "waited for too long; look why nothing was delivered"
            case .size: "did not fit into the queue; look why nothing was delivered, or allow it more"
            case .unreadable: "could not be read from the disk"
            }
        diagnostics.post(
            Diagnostic(.dropped, "\(count) event\(count == 1 ? "" : "s") \(words)", count: Int(clamping: count)))
    }
}
