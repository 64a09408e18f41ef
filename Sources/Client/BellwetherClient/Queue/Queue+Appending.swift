internal import Foundation

extension Queue {
    /// Writes an event and returns its seq. The event is then on the disk, whatever happens to the process.
    ///
    /// If others hold the queue for longer than a recording method can wait, the event waits in memory instead. The
    /// next operation of this process on the queue writes it, in order.
    ///
    /// - Returns: the seq, which always increases across all processes of the install; nil if the event waits.
    @discardableResult
    func append(_ entry: Entry) throws -> Int64? {
        // If events wait already, an earlier call has just waited without success: wait only briefly.
        let patience = hasWaiting ? min(patience, Queue.patienceOfNext) : patience
        do {
            let (seq, file) = try exclusively(within: patience) { memory in try write(entry, &memory) }
            // After the queue is released, so that others do not wait for the disk.
            confirm(file)
            return seq
        } catch QueueError.optedOut {
            throw QueueError.optedOut
        } catch QueueError.busy where waiting.withLock({ $0.take(entry) }) {
            return nil
        } catch {
            // Whatever the cause, the server is told that an event is missing.
            let reason = (error as? QueueError)?.reason ?? .unreadable
            waiting.withLock { $0.lose(since: entry.time, reason) }
            throw error
        }
    }

    private static let patienceOfNext: TimeInterval = 0.05

    /// Writes the events that waited in memory, in order. With the queue held.
    ///
    /// - Returns: the files that the disk has yet to confirm.
    func writeWaiting(_ memory: inout Memory) -> [Written] {
        let room = waiting.withLock { $0.leave() }
        for drop in room.lost.entries { memory.unrecorded.add(drop.count, since: drop.since, reason: drop.reason) }
        var written: [Written] = []
        for entry in room.entries {
            do {
                let (_, file) = try write(entry, &memory)
                if written.last?.path == file.path { written.removeLast() }
                written.append(file)
            } catch QueueError.optedOut {
                continue
            } catch {
                memory.unrecorded.add(1, since: entry.time, reason: (error as? QueueError)?.reason ?? .unreadable)
                diagnostics.post(
                    Diagnostic(.notRecorded, "An event that waited in memory could not be written down: \(error)"))
            }
        }
        return written
    }

    /// Waits for the disk. Unconfirmed data can still be read and delivered; it is lost only if the phone loses power
    /// now.
    func confirm(_ written: Written) {
        do { try written.sync(sync) } catch {
            diagnostics.post(
                Diagnostic(
                    .notSynced,
                    "Event \(written.seq) is written, but the disk does not confirm it: \(error). "
                        + "A loss of power may take it."
                ))
        }
    }

    /// Writes an event. With the queue held.
    func write(_ entry: Entry, _ memory: inout Memory) throws -> (Int64, Written) {
        // Asked with the queue held: nothing comes after the moment in which any process has written the choice down.
        guard !directory.isOptedOut else { throw QueueError.optedOut }
        let now = now
        var (state, isKnown) = try stateForRecording(&memory)
        var tail = try tail(state, &memory)
        if isKnown, state.clock.isDue(at: now) {
            state.clock.advance(to: now, atLeast: tail.lastAge)
            // If this fails, the state is saved next time.
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
            // Keeping the event matters more than the size limit, which is enforced again next time.
            try? makeRoom(&memory)
        }
        do {
            try file.write(record.bytes)
        } catch {
            // Undo the partial write. If this fails too, the next writer finds an incomplete record at the end.
            _ = ftruncate(file.descriptor, off_t(tail.facts.size))
            throw error
        }
        memory.lastSeq = seq
        memory.tail = Tail(
            segment: tail.segment, facts: try file.facts(), lastSeq: seq, lastAge: record.age, endsWhole: true)
        return (seq, Written(seq: seq, file))
    }

    /// Opens a segment to append to it; nil if it is permanently unusable.
    private func open(_ segment: QueueDirectory.Segment) throws(QueueError) -> OpenFile? {
        do throws(QueueError) {
            return try OpenFile(directory.path(of: segment), O_WRONLY | O_APPEND)
        } catch {
            guard error.isOfTheFile else { throw error }
            return nil
        }
    }

    /// A written file on its way from the lock to its sync. One thread at a time uses it.
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

    /// The end of the newest segment. Read again only if another process changed it. Creates the first segment if there
    /// is none.
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
            // No seq may be used twice, so skip as many as the segment could contain.
            let most = Int64(max(facts.size, limits.segment) / Record.header)
            return Tail(segment: newest, facts: facts, lastSeq: newest.first + most, lastAge: 0, endsWhole: false)
        }
        let contents = SegmentContents(bytes)
        // A directory with a segment's name is not ours; skip its seq.
        let last = max(contents.lastSeq ?? 0, newest.first - (facts.isDirectory ? 0 : 1))
        // A process that died while writing had the next seq. Skip it, and those of others that are damaged, so that the
        // reader sees how many events are missing.
        let tail = Tail(
            segment: newest, facts: facts, lastSeq: last + contents.damagedAtEnd, lastAge: contents.lastAge,
            endsWhole: contents.endsWhole)
        memory.tail = tail
        return tail
    }

    /// A segment is closed at `Limits.segment`; a file larger than this is not ours.
    static let longestSegment = 16 << 20

    /// Creates a segment that begins at a seq.
    func begin(segment: QueueDirectory.Segment, after tail: Tail?) throws(QueueError) -> Tail {
        let file = try OpenFile(directory.path(of: segment), O_WRONLY | O_APPEND | O_CREAT)
        directory.sync()
        return Tail(
            segment: segment, facts: try file.facts(), lastSeq: segment.first - 1, lastAge: tail?.lastAge ?? 0,
            endsWhole: true)
    }
}
