internal import Foundation

extension Queue {
    /// The state as it stands on disk, with what this process could not write down. With the queue held.
    ///
    /// A file that is not there or is damaged is an empty state. One that cannot be read now is none: the next save would
    /// put an empty one in its place.
    func load(_ memory: inout Memory) throws(QueueError) -> QueueState {
        var state: QueueState
        let facts = FileFacts(path: directory.state)
        if let facts, let known = memory.state, known.facts == facts {
            state = known.state
        } else {
            let bytes = try directory.contents(directory.state, limit: 1 << 20)
            state = bytes.flatMap { QueueState($0) } ?? QueueState()
            memory.state = facts.map { ($0, state) }
        }
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
