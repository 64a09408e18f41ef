internal import Telemetry

/// The dictionary ids that one writer has met. Bounded: when it is full it starts anew, and the log knows the rest.
///
/// Holds only committed ids; one from a transaction that rolled back would make events vanish from the views.
struct WordCache {
    struct Key: Hashable {
        let app: Int32
        let kind: WordKind
        let word: Word
    }

    private var ids: [Key: Int32] = [:]
    private let capacity: Int
    /// The last word of each kind: events that come together mostly share their words, and comparing is cheaper than
    /// hashing.
    private var recent = [(app: Int32, word: Word, id: Int32)?](repeating: nil, count: WordKind.allCases.count)

    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    mutating func id(of word: Word, _ kind: WordKind, app: Int32) -> Int32? {
        let place = Int(kind.rawValue) - 1
        if let last = recent[place], last.app == app, last.word == word { return last.id }
        guard let id = ids[Key(app: app, kind: kind, word: word)] else { return nil }
        recent[place] = (app, word, id)
        return id
    }

    mutating func insert(_ id: Int32, for key: Key) {
        if ids.count >= capacity { ids.removeAll(keepingCapacity: true) }
        ids[key] = id
    }
}

/// The rows of `log.device` and `log.context` that one writer has met, bounded in the same way.
struct CombinationCache {
    private var ids: [Combination: Int32] = [:]
    private let capacity: Int
    private var recent: (device: (Combination, Int32)?, context: (Combination, Int32)?)

    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    mutating func id(of combination: Combination) -> Int32? {
        let isDevice = combination.dictionary == .device
        if let last = isDevice ? recent.device : recent.context, last.0 == combination { return last.1 }
        guard let id = ids[combination] else { return nil }
        if isDevice { recent.device = (combination, id) } else { recent.context = (combination, id) }
        return id
    }

    mutating func insert(_ id: Int32, for combination: Combination) {
        if ids.count >= capacity { ids.removeAll(keepingCapacity: true) }
        ids[combination] = id
    }
}
