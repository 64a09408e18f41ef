internal import Foundation

extension Queue {
    /// Writes an event down; when this returns its seq, it is on the disk, whatever becomes of the process.
    ///
    /// While others hold the queue for longer than a door can wait, the event waits in memory instead: it is written down,
    /// in its order, by whatever this process does next with the queue.
    ///
    /// - Returns: the seq, which rises over all processes of the install for ever; nothing if the event waits.
    @discardableResult
    func append(_ entry: Entry) throws -> Int64? {
        // While others wait already, somebody has waited in vain a moment ago.
        let patience = hasWaiting ? min(patience, Queue.patienceOfNext) : patience
        do {
            let (seq, file) = try exclusively(within: patience) { memory in try write(entry, &memory) }
            // Not while others wait.
            confirm(file)
            return seq
        } catch QueueError.busy where waiting.withLock({ $0.take(entry) }) {
            return nil
        } catch {
            // Whatever kept it from the disk, the server is told that it is missing.
            let reason = (error as? QueueError)?.reason ?? .unreadable
            waiting.withLock { $0.lose(since: entry.time, reason) }
            throw error
        }
    }

    private static let patienceOfNext: TimeInterval = 0.05

    /// Writes down what waited in memory, in its order. With the queue held.
    ///
    /// - Returns: what is still to be confirmed by the disk.
    func writeWaiting(_ memory: inout Memory) -> [Written] {
        let room = waiting.withLock { $0.leave() }
        for drop in room.lost.entries { memory.unrecorded.add(drop.count, since: drop.since, reason: drop.reason) }
        var written: [Written] = []
        for entry in room.entries {
            do {
                let (_, file) = try write(entry, &memory)
                if written.last?.path == file.path { written.removeLast() }
                written.append(file)
            } catch {
                memory.unrecorded.add(1, since: entry.time, reason: (error as? QueueError)?.reason ?? .unreadable)
                diagnostics.post(
                    Diagnostic(.notRecorded, "An event that waited in memory could not be written down: \(error)"))
            }
        }
        return written
    }

    /// Waits for the disk. What it does not confirm can be read and delivered; only a phone that loses its power now may
    /// lose it.
    func confirm(_ written: Written) {
        do { try written.sync(sync) } catch {
            diagnostics.post(
                Diagnostic(
                    .notSynced,
                    "Event \(written.seq) is written, but the disk does not confirm it: \(error). A loss of power may take it."
                ))
        }
    }

    /// Writes an event down. With the queue held.
    func write(_ entry: Entry, _ memory: inout Memory) throws -> (Int64, Written) {
        let now = now
        var (state, isKnown) = try stateForRecording(&memory)
        var tail = try tail(state, &memory)
        if isKnown, state.clock.isDue(at: now) {
            state.clock.advance(to: now, atLeast: tail.lastAge)
            // It is written down again next time.
            try? save(state, &memory)
        }
        let seq = max(tail.lastSeq, state.settled, memory.lastSeq) + 1
        let record = Record(
            seq: seq, age: max(state.clock.reading(at: now), tail.lastAge), time: entry.time,
            source: try entry.source()[...], event: entry.event(seq)[...])
        let length = record.source.count + record.event.count
        guard length <= Record.longestBody else { throw QueueError.tooLarge(bytes: length) }
        let file: OpenFile
        if tail.endsWhole, tail.facts.size < limits.segment, !tail.facts.isDirectory, let open = try open(tail.segment)
        {
            file = open
        } else {
            tail = try begin(segment: QueueDirectory.Segment(first: seq), after: tail)
            file = try OpenFile(directory.path(of: tail.segment), O_WRONLY | O_APPEND)
            // The event is more than the bound, which holds again next time.
            try? makeRoom(&memory)
        }
        do {
            try file.write(record.bytes)
        } catch {
            // As if nothing had been; should this fail too, the next one finds a torn end.
            _ = ftruncate(file.descriptor, off_t(tail.facts.size))
            throw error
        }
        memory.lastSeq = seq
        memory.tail = Tail(
            segment: tail.segment, facts: try file.facts(), lastSeq: seq, lastAge: record.age, endsWhole: true)
        return (seq, Written(seq: seq, file))
    }

    /// Opens a segment to append to it; nothing if it is one that cannot be opened for good.
    private func open(_ segment: QueueDirectory.Segment) throws(QueueError) -> OpenFile? {
        do throws(QueueError) {
            return try OpenFile(directory.path(of: segment), O_WRONLY | O_APPEND)
        } catch {
            guard error.isOfTheFile else { throw error }
            return nil
        }
    }

    /// A file that goes from under the lock to where it is synced: one thread at a time has it.
    struct Written: @unchecked Sendable {
        /// The last event in it.
        let seq: Int64
        private let file: OpenFile

        init(seq: Int64, _ file: OpenFile) {
            self.seq = seq
            self.file = file
        }

        var path: String { file.path }

        func sync(_ sync: (OpenFile) throws -> Void) throws { try sync(file) }
    }

    /// The end of the newest segment, read only if somebody else was there. Makes the first segment if there is none.
    func tail(_ state: QueueState, _ memory: inout Memory) throws -> Tail {
        guard let newest = try directory.segments().last else {
            let first = QueueDirectory.Segment(first: max(state.settled, memory.lastSeq) + 1)
            return try begin(segment: first, after: nil)
        }
        let path = directory.path(of: newest)
        guard let facts = FileFacts(path: path) else {
            throw QueueError.system(call: "looking", path: path, code: errno)
        }
        if let known = memory.tail, known.segment == newest, known.facts == facts { return known }
        guard let bytes = try directory.contents(of: newest) else {
            // No seq may be given twice: as many as could be in there are left out.
            let most = Int64(max(facts.size, limits.segment) / Record.header)
            return Tail(segment: newest, facts: facts, lastSeq: newest.first + most, lastAge: 0, endsWhole: false)
        }
        let contents = SegmentContents(bytes)
        // A directory with such a name is nobody's; its seq is left out.
        let last = max(contents.lastSeq ?? 0, newest.first - (facts.isDirectory ? 0 : 1))
        // Whoever died while writing there had the next seq; it is left out, so that the reader sees that one is missing.
        let tail = Tail(
            segment: newest, facts: facts, lastSeq: contents.endsWhole ? last : last + 1, lastAge: contents.lastAge,
            endsWhole: contents.endsWhole)
        memory.tail = tail
        return tail
    }

    /// A segment is closed at `Limits.segment`; nothing beyond this is ours.
    static let longestSegment = 16 << 20

    /// Makes a segment that begins at a seq.
    func begin(segment: QueueDirectory.Segment, after tail: Tail?) throws(QueueError) -> Tail {
        let file = try OpenFile(directory.path(of: segment), O_WRONLY | O_APPEND | O_CREAT)
        directory.sync()
        return Tail(
            segment: segment, facts: try file.facts(), lastSeq: segment.first - 1, lastAge: tail?.lastAge ?? 0,
            endsWhole: true)
    }
}
