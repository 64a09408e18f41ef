internal import Values

/// What is still to happen, the earliest first; what is for the same moment in the order in which it was entered.
struct Agenda {
    private struct Entry {
        let at: Timestamp
        let number: Int
        let what: Happening

        func isBefore(_ other: Entry) -> Bool { (at, number) < (other.at, other.number) }
    }

    /// A binary heap: no entry comes before its parent.
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

    /// Takes out what comes next, if it is not after `limit`.
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

/// One thing that is going to happen in a world. Phones are named by their place in the population.
enum Happening {
    /// The campaigns of this day are planned.
    case dawn(day: Int)
    case sending(Campaign)
    case arrival(phone: Int, Push)
    case reaction(phone: Int, Push, Reaction)
    /// Somebody opens the app by its icon.
    case launch(phone: Int)
    case upload(phone: Int)
    /// An envelope whose answer was lost goes out again.
    case repetition(phone: Int, [Record])
}
