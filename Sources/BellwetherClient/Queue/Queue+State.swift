internal import Foundation

extension Queue {
    /// The state as it stands on disk, with what this process could not write down. With the queue held.
    ///
    /// A file that is not there or is damaged is an empty state. One that cannot be read now is none: the next save would
    /// put an empty one in its place. That is what happens to one that is given up.
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

    /// The state, to go by when something is recorded, and whether it is that on disk. A file that cannot be read keeps
    /// nothing from being recorded: the names and the contents of the segments say which seq is next.
    func stateForRecording(_ memory: inout Memory) throws(QueueError) -> (QueueState, isKnown: Bool) {
        do {
            return (try load(&memory), true)
        } catch {
            guard error.isOfTheFile else { throw error }
            return (remembering(QueueState(), memory), false)
        }
    }

    /// The state, for somebody who cannot do without: a file that cannot be read for good is given up after so many looks.
    ///
    /// What it costs: what was delivered already may be sent again, which the server recognises, and what was dropped and
    /// not yet told is not counted.
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

    /// How often deliveries of a process look at a state that cannot be read: half a minute lies between two.
    static let mostLooks = 5

    private func remembering(_ known: QueueState, _ memory: Memory) -> QueueState {
        var state = known
        state.settled = max(state.settled, memory.settled)
        state.drops.remove(memory.acknowledged)
        if let pace = memory.pace { state.pace = pace }
        for drop in memory.unrecorded.entries { state.drops.add(drop.count, since: drop.since, reason: drop.reason) }
        return state
    }

    /// Writes the state down. What cannot be written is remembered for as long as the process lives.
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

    /// When the next delivery may begin, as all processes know it.
    var pace: Pace {
        get throws { try exclusively { memory in try load(&memory).pace } }
    }

    /// Lets all processes know when the next delivery may begin.
    func keep(_ pace: Pace) throws {
        try exclusively { memory in
            var state = try load(&memory)
            guard state.pace != pace else { return }
            state.pace = pace
            try save(state, &memory)
        }
    }
}
