internal import Accounts
package import Postgres
internal import Telemetry

extension WordBook {
    /// The words that count as others, each with the word that it counts as.
    package func merges(on connection: inout Connection) throws(WordBookError) -> [WordName: WordName] {
        do {
            var merges: [WordName: WordName] = [:]
            for row in try connection.query(
                """
                SELECT kind, sent, value FROM log.word
                WHERE app = \(app.id) AND counts_as IS NOT NULL AND sent IS NOT NULL
                """)
            {
                let member = WordKind.name(try row.get(0))
                merges[WordName(member: member, word: try row.get(1))] = WordName(member: member, word: try row.get(2))
            }
            return merges
        } catch { throw .database(error) }
    }

    /// Makes these the merges of this dictionary, too, and undoes others. Returns how many words that changed. Part of
    /// the caller's transaction.
    package func take(
        _ merges: [WordName: WordName], on connection: inout Connection
    ) throws(WordBookError) -> Int {
        let own = try self.merges(on: &connection)
        let undone = own.keys.filter { merges[$0] == nil }
        for name in undone {
            guard let member = WordKind(named: name.member) else { continue }
            try merge([name.word], into: name.word, of: member, on: &connection)
        }
        let missing = merges.filter { own[$0.key] != $0.value }
        for (target, names) in Dictionary(grouping: missing.keys, by: { merges[$0] ?? $0 }) {
            guard let member = WordKind(named: target.member) else { continue }
            let words = names.map(\.word)
            try learn(words + [target.word], of: member, on: &connection)
            try merge(words, into: target.word, of: member, on: &connection)
        }
        return undone.count + missing.count
    }
}
