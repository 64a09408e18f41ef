internal import Foundation

extension Queue {
    /// Writes down that the person wants nothing recorded, and drops what waits if that is wanted, too.
    func optOut(dropping: Bool) throws {
        try directory.make()
        try exclusively(within: patience) { memory in
            let choice = Array((dropping ? QueueDirectory.dropping : "sending\n").utf8)
            guard dropping else { return try directory.replace(directory.optedOut, with: choice) }
            // The file says both: if the process ends here, the next delivery drops what waits. On a full disk, what is
            // dropped makes room for the file.
            let isWritten = (try? directory.replace(directory.optedOut, with: choice)) != nil
            try discard(&memory)
            if !isWritten { try directory.replace(directory.optedOut, with: choice) }
        }
    }

    /// Ends it. What the former choice meant is done first: a process may have ended before it dropped what waited.
    func optIn() throws {
        guard directory.isOptedOut else { return }
        try exclusively(within: patience) { memory in
            if directory.isDropping { try discard(&memory) }
            try directory.remove(directory.optedOut)
        }
    }

    /// Removes everything that tells of the install: what waits, what was set aside, and the id, which is returned.
    ///
    /// The person's choice stays, and so does the place in the sequence: another process of the app may be about to use
    /// it, and events with a place that counts as settled would be lost.
    func deleteEverything(and others: [URL]) throws -> UUID? {
        guard directory.isThere else { return nil }
        return try exclusively(within: patience) { memory in
            // An unreadable id goes, too; nobody can be told of it.
            let known = (try? Identity(reading: directory))?.installID
            try discard(&memory)
            // The id goes last: if something else stays, who asks again is still told of it.
            for path in others.map(\.path) + [directory.install] { try directory.removeWhole(path) }
            return known
        }
    }

    /// Drops what waits, without counting it as lost: it was the person's wish. With the queue held.
    ///
    /// The files go before the state is written, which may need their room. The name of an empty segment keeps the place
    /// in the sequence. However the newest ends, it goes, too: nobody may come who completes it.
    func discard(_ memory: inout Memory) throws {
        var state = try load(&memory, afterLooks: 0)
        let tail = try tail(state, &memory)
        state.settled = max(state.settled, tail.lastSeq, memory.lastSeq)
        let next = QueueDirectory.Segment(first: state.settled + 1)
        if next != tail.segment { memory.tail = try begin(segment: next, after: tail) }
        for segment in try directory.segments() where segment != next { try directory.remove(segment) }
        try directory.removeWhole(directory.setAside)
        state.drops = Drops()
        memory.unrecorded = Drops()
        try save(state, &memory)
        directory.sync()
    }
}

extension QueueDirectory {
    static let dropping = "dropping\n"

    /// Whether what waits is to be dropped, because the person wanted that.
    var isDropping: Bool {
        guard isOptedOut, let choice = try? contents(optedOut, limit: 64) else { return false }
        return choice == Array(QueueDirectory.dropping.utf8)
    }

    /// Removes a file, and what was to replace it when a process ended.
    fileprivate func removeWhole(_ path: String) throws(QueueError) {
        try remove(QueueDirectory.new(path))
        try remove(path)
    }

    /// Removes a file. That there is none is as good.
    func remove(_ path: String) throws(QueueError) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw .system(call: "removing", path: path, code: errno)
    }
}
