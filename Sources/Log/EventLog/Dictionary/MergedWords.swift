package import Telemetry
package import Values

/// A word of a member, as clients send it: the same in every database, whatever its id is there. Compared by its bytes.
package struct WordName: Hashable, Sendable {
    package let member: String
    private let text: Word

    package var word: String { text.text }

    package init(member: String, word: String) { (self.member, text) = (member, Word(word)) }
}

/// The words that several dictionaries of an app have learned, each once. A word was learned where it came first.
package struct MergedWords {
    private var first: [WordName: (entry: WordBook.Entry, place: Int)] = [:]

    package init() {}

    /// Adds what the dictionary at a place has learned.
    package mutating func add(_ entries: [WordBook.Entry], of place: Int) {
        for entry in entries {
            let known = first[entry.name]
            if known.map({ entry.learnedAt < $0.entry.learnedAt }) ?? true { first[entry.name] = (entry, place) }
        }
    }

    package var count: Int { first.count }

    /// The words, each with the place where it was learned first.
    package var words: [(entry: WordBook.Entry, place: Int)] { Array(first.values) }

    /// How many there are of a member; nil if there are none. `hourAgo` tells which are fresh.
    package func count(of member: WordKind, hourAgo: Timestamp) -> WordBook.Count? {
        let name = WordKind.name(member.rawValue)
        let entries = first.values.map(\.entry).filter { $0.member == name }
        guard !entries.isEmpty else { return nil }
        return WordBook.Count(
            member: name, words: Int64(entries.count), fresh: Int64(entries.count { $0.learnedAt > hourAgo }),
            merged: Int64(entries.count { $0.shown != $0.word }))
    }

    /// The newest, in the order in which one dictionary lists them.
    package func newest(_ most: Int64) -> [WordBook.Entry] {
        let sorted = first.values.map(\.entry).sorted { left, right in
            if left.learnedAt != right.learnedAt { return left.learnedAt > right.learnedAt }
            let members = (WordKind(named: left.member)?.rawValue ?? 0, WordKind(named: right.member)?.rawValue ?? 0)
            if members.0 != members.1 { return members.0 < members.1 }
            return left.word.utf8.lexicographicallyPrecedes(right.word.utf8)
        }
        return Array(sorted.prefix(Int(clamping: most)))
    }

    /// Those for which this is true.
    package func filter(_ isMeant: (WordBook.Entry, _ place: Int) -> Bool) -> MergedWords {
        var filtered = MergedWords()
        filtered.first = first.filter { isMeant($0.value.entry, $0.value.place) }
        return filtered
    }
}
