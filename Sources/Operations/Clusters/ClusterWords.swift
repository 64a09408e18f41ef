internal import Accounts
package import EventLog
internal import Postgres
internal import ServiceRuntime
package import Telemetry
internal import Values

/// The dictionaries of an app in all cells of a cluster as one: the same word is one word, whatever id each cell has
/// for it.
package struct ClusterWords {
    private let cluster: Cluster
    private let slug: String
    /// Those with events.
    private let cells: [ClusterMap.Cell]

    package init(of slug: String, in cluster: Cluster) {
        (self.cluster, self.slug, cells) = (cluster, slug, cluster.map.cells.filter { !$0.isHub })
    }

    /// The members for which the app has words, in the order of the catalogue. One member at a time, as all words of
    /// all members are many.
    package func counts() throws -> [WordBook.Count] {
        let hourAgo = WallClock.now + -3_600_000_000
        return try WordKind.allCases.compactMap { member in
            var choice = WordBook.Choice()
            choice.member = member
            return try merged(choice).count(of: member, hourAgo: hourAgo)
        }
    }

    /// The newest of these words, at most that many.
    package func list(_ choice: WordBook.Choice, most: Int64) throws -> [WordBook.Entry] {
        try chosen(choice).newest(most)
    }

    /// Merges words in all cells, those included that have not learned them yet, and in hubs, whose sends name words,
    /// too. Changes nothing before all cells have answered.
    package func merge(_ words: [String], into target: String, of member: WordKind) throws {
        var choice = WordBook.Choice()
        choice.member = member
        choice.words = words + [target]
        let known = Set(try merged(choice).words.map(\.entry.name))
        for word in words + [target] where word != WordBook.other {
            guard known.contains(WordName(member: WordKind.name(member.rawValue), word: word)) else {
                throw WordBookError.unknown(word: word, member: WordKind.name(member.rawValue), app: slug)
            }
        }
        for cell in cells + cluster.map.cells.filter(\.isHub) {
            try inside(cell) { book, connection in
                try connection.inTransaction { connection in
                    try book.learn(words + [target], of: member, on: &connection)
                    try book.merge(words, into: target, of: member, on: &connection)
                }
            }
            CrashPoint.pass("merged in a cell")
        }
    }

    /// Forgets words in all cells, and returns how many. With `isDry` it only counts them.
    ///
    /// Where a word was learned first, it goes last: if this is interrupted, the same choice still means it.
    package func prune(_ choice: WordBook.Choice, isDry: Bool) throws -> Int {
        let chosen = try chosen(choice)
        guard !isDry else { return chosen.count }
        for isLast in [false, true] {
            for (place, cell) in cells.enumerated() {
                let names = chosen.filter { ($1 == place) == isLast }.words.map(\.entry.name)
                for (member, names) in Dictionary(grouping: names, by: \.member) {
                    var part = WordBook.Choice()
                    part.member = WordKind(named: member)
                    part.words = names.map(\.word)
                    try inside(cell) { [part] book, connection in
                        try book.reserve(on: &connection)
                        _ = try connection.inTransaction { try book.prune(part, on: &$0) }
                    }
                }
                CrashPoint.pass("pruned in a cell")
            }
        }
        return chosen.count
    }

    /// What each cell lists, with each word once, as it was learned in the first of the cells that list it.
    private func merged(_ choice: WordBook.Choice) throws -> MergedWords {
        var words = MergedWords()
        for (place, cell) in cells.enumerated() {
            words.add(try list(choice, in: cell), of: place)
        }
        return words
    }

    /// The words that a choice means. What it says of a word's key, install and time must be true where the word came
    /// first.
    private func chosen(_ choice: WordBook.Choice) throws -> MergedWords {
        let listed = try cells.map { cell in Set(try list(choice, in: cell).map(\.name)) }
        var words = MergedWords()
        for (member, names) in Dictionary(grouping: Set(listed.joined()), by: \.member) {
            var same = WordBook.Choice()
            same.member = WordKind(named: member)
            same.words = names.map(\.word)
            for (place, cell) in cells.enumerated() { words.add(try list(same, in: cell), of: place) }
        }
        return words.filter { entry, place in listed[place].contains(entry.name) }
    }

    private func list(_ choice: WordBook.Choice, in cell: ClusterMap.Cell) throws -> [WordBook.Entry] {
        try inside(cell) { book, connection in try book.list(choice, most: .max, on: &connection) }
    }

    /// Works on the dictionary of a cell, and names the cell if something goes wrong there.
    private func inside<Value>(
        _ cell: ClusterMap.Cell, _ body: (WordBook, inout Connection) throws -> Value
    ) throws -> Value {
        try cluster.working(on: cell) { connection in
            do { return try body(WordBook(of: try Apps.named(slug, on: &connection)), &connection) } catch {
                switch error as? WordBookError {
                case .database(let reason)?: throw ClusterError(inCell: cell.name, reason)
                // What is wrong with the words is wrong in all cells.
                case let error?: throw error
                case nil: throw ClusterError(inCell: cell.name, error)
                }
            }
        }
    }
}
