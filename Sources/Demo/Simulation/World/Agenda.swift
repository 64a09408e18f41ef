internal import Values

/// Future happenings, earliest first. Those at the same moment keep the order in which they were added.
struct Agenda {
    private struct Entry {
        let at: Timestamp
        let number: Int
        let what: Happening

        func isBefore(_ other: Entry) -> Bool { (at, number) < (other.at, other.number) }
    }

    /// A binary heap: no entry is earlier than its parent.
    private var heap: [Entry] = []
    private var entered = 0

    mutating func enter(_ what: Happening, at time: Timestamp) {
        heap.append(Entry(at: time, number: entered, what: what))
        entered += 1
        var index = heap.count - 1
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes and returns the next happening, unless it is after `limit`.
    mutating func next(until limit: Timestamp) -> (at: Timestamp, what: Happening)? {
        guard let first = heap.first, first.at <= limit else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.at, first.what)
    }

    private mutating func sink() {
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].isBefore(heap[least]) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}

/// Something that will happen in a world. Phones are given by their index in the population.
enum Happening {
    /// The time to plan this day's campaigns.
    case dawn(day: Int)
    case sending(Campaign)
    case arrival(phone: Int, Push)
    case reaction(phone: Int, Push, Reaction)
    /// Somebody opens the app by its icon.
    case launch(phone: Int)
    case upload(phone: Int)
    /// An envelope is sent again because its answer was lost.
    case repetition(phone: Int, [Record])
}
