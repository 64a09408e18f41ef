internal import Postgres
internal import ServiceRuntime
internal import Telemetry

/// Makes names of the words of events: from what this writer has met, and otherwise from the log, which learns them.
struct WordResolver {
    var words = WordCache()
    var combinations = CombinationCache()

    /// After this, only the log knows.
    mutating func forget() {
        words = WordCache()
        combinations = CombinationCache()
    }

    /// The stage: gives every candidate the ids of its words, its device and its context.
    mutating func name(
        _ candidates: [Candidate], of submissions: [Submission], under limits: Appender.Configuration,
        on session: AppendSession
    ) throws(PostgresError) -> Naming {
        var naming = Naming(candidates, of: submissions)
        try resolveWords(of: &naming, limits, session)
        CrashPoint.pass("named")
        try resolveCombinations(of: &naming, limits, session)
        return naming
    }

    /// A word that is not learned gets the id of the reserved word.
    private mutating func resolveWords(
        of naming: inout Naming, _ limits: Appender.Configuration, _ session: AppendSession
    ) throws(PostgresError) {
        var learned: [WordCache.Key: Naming.LearnedWord] = [:]
        for (group, asked) in naming.look(in: &words) {
            let rows = try session.timed { session throws(PostgresError) in
                try session.connection.queryPrepared(
                    """
                    SELECT value, id, is_other FROM log.learn_words(
                        \(group.app), \(group.kind.rawValue), \(asked.keys.map(\.text)), \(asked.values.map(\.key)),
                        \(asked.values.map(\.install)), \(limits.mostWords), \(limits.newWords.ofInstall),
                        \(limits.newWords.ofKey))
                    """)
            }
            for row in rows {
                learned[WordCache.Key(app: group.app, kind: group.kind, word: Word(try row.get(0)))] =
                    Naming.LearnedWord(id: try row.get(1), isOther: try row.get(2))
            }
        }
        // A word that was not learned today may be learned tomorrow.
        for (key, word) in learned where !word.isOther { words.insert(word.id, for: key) }
        try naming.complete(learned)
    }

    /// If the dictionaries have no room for a combination, the event's own row holds it.
    private mutating func resolveCombinations(
        of naming: inout Naming, _ limits: Appender.Configuration, _ session: AppendSession
    ) throws(PostgresError) {
        let unknown = naming.combine(in: combinations)
        guard !unknown.isEmpty else { return }
        var learned: [Combination: Int32] = [:]
        for (group, asked) in unknown {
            let width = Combination.width(of: group.dictionary)
            let members = asked.flatMap { combination in (0..<width).map { combination.members[$0] } }
            let rows = try session.timed { session throws(PostgresError) in
                try session.connection.queryPrepared(
                    """
                    SELECT place, id FROM log.learn_combinations(
                        \(group.dictionary.rawValue), \(group.app), \(Int32(width)), \(members),
                        \(Int32(clamping: Int64(limits.mostWords) * 10)))
                    """)
            }
            for row in rows {
                guard let id: Int32 = try row.optional(1) else { continue }
                learned[asked[Int(try row.get(0, as: Int32.self)) - 1]] = id
            }
        }
        for (combination, id) in learned { combinations.insert(id, for: combination) }
        naming.complete(combinations: learned)
    }
}
