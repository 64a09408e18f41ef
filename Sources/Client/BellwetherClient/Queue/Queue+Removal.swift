internal import Foundation

extension Queue {
    /// Writes down that the person wants nothing recorded, and drops what waits if that is wanted, too.
    func optOut(dropping: Bool) throws {
        try directory.make()
        try exclusively(within: patience) { memory in
            // The file says both: if the process ends here, the next delivery drops what waits.
            let choice = dropping ? QueueDirectory.dropping : "sending\n"
            try directory.replace(directory.optedOut, with: Array(choice.utf8))
            if dropping { try discard(&memory) }
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
            for path in [directory.install] + others.map(\.path) { try directory.remove(path) }
            return known
        }
    }

    /// Drops what waits, without counting it as lost: it was the person's wish. With the queue held.
    func discard(_ memory: inout Memory) throws {
        var state = try load(&memory, afterLooks: 0)
        let tail = try tail(state, &memory)
        state.settled = max(state.settled, tail.lastSeq, memory.lastSeq)
        state.drops = Drops()
        memory.unrecorded = Drops()
        try save(state, &memory)
        try prune(state, &memory)
        try directory.remove(directory.setAside)
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

    /// Removes a file. That there is none is as good.
    func remove(_ path: String) throws(QueueError) {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        throw .system(call: "removing", path: path, code: errno)
    }
}
