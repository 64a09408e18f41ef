internal import Foundation

extension Queue {
    /// The state on disk, plus what this process could not write. With the queue held.
    ///
    /// A missing or damaged file is an empty state. A file that is unreadable now is not, because the next save would
    /// overwrite it with an empty state. That happens only to a file that is given up.
    func load(_ memory: inout Memory) throws(QueueError) -> QueueState {
        let facts = FileFacts(path: directory.state)
        if let facts, let known = memory.state, known.facts == facts { return remembering(known.state, memory) }
        do {
            let bytes = try directory.contents(directory.state, limit: 1 << 20)
            let state = bytes.flatMap { QueueState($0) } ?? QueueState()
            memory.state = facts.map { ($0, state) }
            memory.vainLooks = 0
            return remembering(state, memory)
        } catch {
            guard memory.isStateGivenUp, error.isOfTheFile else { throw error }
            return remembering(QueueState(), memory)
        }
    }

    /// The state for recording, and whether it comes from disk. An unreadable file does not prevent recording: the
    /// names and contents of the segments show which seq is next.
    func stateForRecording(_ memory: inout Memory) throws(QueueError) -> (QueueState, isKnown: Bool) {
        do {
            return (try load(&memory), true)
        } catch {
            guard error.isOfTheFile else { throw error }
            return (remembering(QueueState(), memory), false)
        }
    }

    /// The state for a caller that needs it. A permanently unreadable file is given up after this many attempts.
    ///
    /// The price: delivered events may be sent again (the server detects duplicates), and drops that were not yet
    /// reported are not counted.
    func load(_ memory: inout Memory, afterLooks most: Int) throws(QueueError) -> QueueState {
        do {
            return try load(&memory)
        } catch {
            guard error.isOfTheFile else { throw error }
            memory.vainLooks += 1
            guard memory.vainLooks >= most else { throw error }
            memory.isStateGivenUp = true
            diagnostics.post(
                Diagnostic(
                    .stateLost,
                    """
                    The queue begins with a new state, as its old one cannot be read: \(error). Some events may be sent \
                    twice, which the server recognises; what was dropped and not yet told is not counted.
                    """))
            return try load(&memory)
        }
    }

    /// How often a process's deliveries try to read an unreadable state; there is half a minute between two attempts.
    static let mostLooks = 5

    private func remembering(_ known: QueueState, _ memory: Memory) -> QueueState {
        var state = known
        state.settled = max(state.settled, memory.settled)
        state.drops.remove(memory.acknowledged)
        if let pace = memory.pace { state.pace = pace }
        for drop in memory.unrecorded.entries { state.drops.add(drop.count, since: drop.since, reason: drop.reason) }
        return state
    }

    /// Writes the state. If that fails, the process remembers it as long as it lives.
    func save(_ state: QueueState, _ memory: inout Memory) throws {
        memory.settled = max(memory.settled, state.settled)
        do {
            try directory.replace(directory.state, with: state.bytes)
        } catch {
            memory.pace = state.pace
            throw error
        }
        memory.state = FileFacts(path: directory.state).map { ($0, state) }
        memory.settled = 0
        memory.acknowledged = []
        memory.unrecorded = Drops()
        memory.pace = nil
        memory.isStateGivenUp = false
    }

    /// When the next delivery may begin, shared by all processes.
    var pace: Pace {
        get throws { try exclusively { memory in try load(&memory).pace } }
    }

    /// Changes when the next delivery may begin, for all processes. If the disk is full, only this process remembers it.
    @discardableResult
    func change<Result: Sendable>(pace body: (inout Pace) -> Result) throws -> Result {
        try exclusively { memory in
            var state = try load(&memory)
            let before = state.pace
            let result = body(&state.pace)
            if state.pace != before { try? save(state, &memory) }
            return result
        }
    }
}
