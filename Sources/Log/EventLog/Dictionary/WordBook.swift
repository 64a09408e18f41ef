package import Accounts
package import Postgres
package import Telemetry
package import Values

/// What an app's dictionary has learned, for its owner to read and to undo.
package struct WordBook: Sendable {
    /// The word that stands for all words that were not learned.
    package static let other = "(other)"

    package let app: App

    package init(of app: App) { self.app = app }

    /// How many words a member has.
    package struct Count: Sendable, Equatable {
        package let member: String
        package let words: Int64
        /// How many of these arrived within the last hour.
        package let fresh: Int64
        package let merged: Int64
    }

    /// A word, as clients send it and as it is shown.
    package struct Entry: Sendable, Equatable {
        package let member: String
        package let word: String
        package let shown: String
        package let learnedAt: Timestamp
        /// The name of the key that it came with.
        package let key: String?

        /// What it is in every database, whatever its id is there.
        package var name: WordName { WordName(member: member, word: word) }
    }

    /// Selects words: those that meet all conditions given.
    package struct Choice: Sendable {
        package var member: WordKind?
        package var key: String?
        package var install: UUID?
        package var since: Timestamp?
        package var words: [String]?

        package init() {}
    }

    /// The members for which an app has words, in the order of the catalogue.
    package func counts(on connection: inout Connection) throws(PostgresError) -> [Count] {
        var counts: [Count] = []
        for row in try connection.query(
            """
            SELECT kind, count(*), count(*) FILTER (WHERE learned_at > now() - interval '1 hour'), count(counts_as)
            FROM log.word WHERE app = \(app.id) AND sent <> \(WordBook.other) GROUP BY kind ORDER BY kind
            """)
        {
            counts.append(
                Count(
                    member: WordKind.name(try row.get(0)), words: try row.get(1), fresh: try row.get(2),
                    merged: try row.get(3)))
        }
        return counts
    }

    /// The newest of these words, at most that many.
    package func list(
        _ choice: Choice, most: Int64, on connection: inout Connection
    ) throws(WordBookError) -> [Entry] {
        let ids = try ids(of: choice, on: &connection)
        do {
            var entries: [Entry] = []
            for row in try connection.query(
                """
                SELECT w.kind, w.sent, w.value, w.learned_at, k.name
                FROM log.word AS w LEFT JOIN log.api_key AS k ON k.id = w.key
                WHERE w.id = ANY (\(ids)) ORDER BY w.learned_at DESC, w.kind, w.sent LIMIT \(most)
                """)
            {
                entries.append(
                    Entry(
                        member: WordKind.name(try row.get(0)), word: try row.get(1), shown: try row.get(2),
                        learnedAt: try row.get(3), key: try row.optional(4)))
            }
            return entries
        } catch { throw .database(error) }
    }

    /// Shows and counts these words, and all that were merged into them, as another word. A word that is merged into
    /// itself stands for itself again. Counts change only with the next rebuild.
    ///
    /// Part of the caller's transaction.
    package func merge(
        _ words: [String], into target: String, of member: WordKind, on connection: inout Connection
    ) throws(WordBookError) {
        do {
            try hold(on: &connection)
            if target == WordBook.other {
                try connection.query("SELECT log.other_word(\(app.id), \(member.rawValue))")
            }
        } catch { throw .database(error) }
        let goal = try find(target, of: member, on: &connection)
        for word in words {
            guard word != WordBook.other else { throw .reserved }
            let found = try find(word, of: member, on: &connection)
            do {
                if word == target {
                    try connection.query("UPDATE log.word SET value = sent, counts_as = NULL WHERE id = \(found.id)")
                    continue
                }
            } catch { throw .database(error) }
            guard goal.countsAs != found.id else { throw .circle(word: word, into: target) }
            do {
                try connection.query(
                    """
                    UPDATE log.word SET value = \(goal.shown), counts_as = \(goal.countsAs)
                    WHERE app = \(app.id) AND kind = \(member.rawValue)
                        AND (id = \(found.id) OR counts_as = \(found.id))
                    """)
            } catch { throw .database(error) }
        }
        do { try noteChange(on: &connection) } catch { throw .database(error) }
    }

    /// From its commit on, funnels that were counted before are known to need a rebuild, whoever then makes it.
    private func noteChange(on connection: inout Connection) throws(PostgresError) {
        try connection.query("UPDATE log.head SET words = words + 1")
    }

    /// Adds those of these words that nobody has sent yet, so that they can be merged. Part of the caller's
    /// transaction.
    package func learn(
        _ words: [String], of member: WordKind, on connection: inout Connection
    ) throws(WordBookError) {
        do {
            try hold(on: &connection)
            let added = try connection.query(
                """
                INSERT INTO log.word (app, kind, value, sent)
                SELECT \(app.id), \(member.rawValue), asked.word, asked.word
                FROM (SELECT DISTINCT word FROM unnest(\(words)) AS asked (word)) AS asked
                WHERE asked.word <> \(WordBook.other) AND NOT EXISTS (
                    SELECT FROM log.word AS w WHERE w.app = \(app.id) AND w.kind = \(member.rawValue)
                        AND w.sent = asked.word)
                """
            ).affected
            try connection.query(
                """
                INSERT INTO log.word_count AS c (app, kind, words)
                VALUES (\(app.id), \(member.rawValue), \(Int32(added)))
                ON CONFLICT (app, kind) DO UPDATE SET words = c.words + excluded.words
                """)
        } catch { throw .database(error) }
    }

    /// Creates the reserved word of each member that has none, so that no writer has to while words are pruned.
    package func reserve(on connection: inout Connection) throws(WordBookError) {
        do {
            try connection.query(
                "SELECT log.other_word(\(app.id), kind) FROM unnest(\(WordKind.allCases.map(\.rawValue))) AS kind")
        } catch { throw .database(error) }
    }

    /// Forgets these words: events that have them are shown and counted with `(other)`, their places become free, and a
    /// word that arrives again is learned again. Words that were merged into them stand for themselves again. Returns
    /// how many were forgotten.
    ///
    /// Must be the last step of the caller's transaction. Until it ends nobody can learn a word.
    package func prune(_ choice: Choice, on connection: inout Connection) throws(WordBookError) -> Int {
        do {
            try hold(on: &connection)
            try connection.execute(script: "SET LOCAL statement_timeout = 0")
        } catch { throw .database(error) }
        let ids = try ids(of: choice, on: &connection)
        guard !ids.isEmpty else { return 0 }
        do {
            try connection.query(
                """
                SELECT log.other_word(\(app.id), k.kind)
                FROM (SELECT DISTINCT w.kind FROM log.word AS w WHERE w.id = ANY (\(ids))) AS k
                """)
            try connection.query(
                """
                UPDATE log.word SET value = sent, counts_as = NULL
                WHERE app = \(app.id) AND sent IS NOT NULL AND counts_as = ANY (\(ids))
                """)
            try connection.query(
                """
                UPDATE log.word AS w SET value = o.value, sent = NULL, counts_as = o.id
                FROM log.word AS o
                WHERE w.id = ANY (\(ids)) AND o.app = w.app AND o.kind = w.kind AND o.sent = \(WordBook.other)
                """)
            try recount(on: &connection)
            // Writers cache ids: this makes them ask again.
            try connection.query("SELECT log.raise_history()")
            try noteChange(on: &connection)
            return ids.count
        } catch { throw .database(error) }
    }

    /// Nobody can learn a word meanwhile. While a shard moves, words would change in one copy of its events and not in
    /// the other.
    private func hold(on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT cluster.require_no_move()")
        try connection.query("INSERT INTO log.dictionary VALUES (\(app.id)) ON CONFLICT DO NOTHING")
        try connection.query("SELECT FROM log.dictionary WHERE app = \(app.id) FOR UPDATE")
    }

    /// Counts the places that are taken, without forgotten words. A device or context with a forgotten word stays,
    /// since events refer to it, but takes no place any more.
    private func recount(on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            UPDATE log.word_count AS c SET words = (
                SELECT count(*) FROM log.word AS w WHERE w.app = c.app AND w.kind = c.kind
                    AND w.sent <> \(WordBook.other))
            WHERE c.app = \(app.id)
            """)
        for (dictionary, kinds) in [("device", Combination.deviceWords), ("context", Combination.contextWords)] {
            let members = kinds.compactMap(\.member.declaration.column).map { "c.\($0)" }.joined(separator: ", ")
            let pruned = "SELECT FROM log.word AS w WHERE w.id IN (\(members)) AND w.sent IS NULL"
            try connection.execute(
                script: """
                    UPDATE log.combination_count SET combinations = (
                        SELECT count(*) FROM log.\(dictionary) AS c WHERE c.app = \(app.id) AND NOT EXISTS (\(pruned)))
                    WHERE app = \(app.id) AND dictionary = '\(dictionary)'
                    """)
        }
    }

    private struct Found {
        let id: Int32
        let countsAs: Int32
        let shown: String
    }

    private func find(
        _ word: String, of member: WordKind, on connection: inout Connection
    ) throws(WordBookError) -> Found {
        do {
            let rows = try connection.query(
                """
                SELECT id, coalesce(counts_as, id), value FROM log.word
                WHERE app = \(app.id) AND kind = \(member.rawValue) AND sent = \(word)
                """)
            if let row = rows.first {
                return Found(id: try row.get(0), countsAs: try row.get(1), shown: try row.get(2))
            }
        } catch { throw .database(error) }
        throw .unknown(word: word, member: WordKind.name(member.rawValue), app: app.slug)
    }

    private func key(of choice: Choice, on connection: inout Connection) throws(WordBookError) -> Int32? {
        guard let name = choice.key else { return nil }
        do {
            let rows = try connection.query("SELECT id FROM log.api_key WHERE app = \(app.id) AND name = \(name)")
            if let row = rows.first { return try row.get(0) }
        } catch { throw .database(error) }
        throw .unknownKey(name, app: app.slug)
    }

    private func ids(of choice: Choice, on connection: inout Connection) throws(WordBookError) -> [Int32] {
        let (key, member) = (try self.key(of: choice, on: &connection), choice.member?.rawValue)
        do {
            var ids: [Int32] = []
            for row in try connection.query(
                """
                SELECT id FROM log.word
                WHERE app = \(app.id) AND sent <> \(WordBook.other)
                    AND (\(member)::smallint IS NULL OR kind = \(member)::smallint)
                    AND (\(key)::integer IS NULL OR key = \(key)::integer)
                    AND (\(choice.install)::uuid IS NULL OR install_hash = uuid_hash(\(choice.install)::uuid))
                    AND (\(choice.since)::timestamptz IS NULL OR learned_at >= \(choice.since)::timestamptz)
                    AND (\(choice.words == nil) OR sent = ANY (\(choice.words ?? [])))
                """)
            { ids.append(try row.get(0)) }
            return ids
        } catch { throw .database(error) }
    }
}

/// Why words were not merged or pruned, for the person who asked.
package enum WordBookError: Error, Sendable, CustomStringConvertible {
    case unknown(word: String, member: String, app: String)
    case unknownKey(String, app: String)
    case circle(word: String, into: String)
    case reserved
    case database(PostgresError)

    package var description: String {
        switch self {
        case .unknown(let word, let member, let app):
            "app '\(app)' has not learned '\(word)' as \(member): "
                + "see bellwether words list --app \(app) --member \(member)"
        case .unknownKey(let name, let app): "app '\(app)' has no key '\(name)': see bellwether app list"
        case .circle(let word, let target):
            "'\(target)' counts as '\(word)': merge it into itself first, so that it counts as itself again"
        case .reserved:
            "\(WordBook.other) stands for everything that was not learned, and cannot be merged into anything"
        case .database(let error): error.description
        }
    }
}

extension WordKind {
    /// The kind for the name of a column.
    package init?(named name: String) {
        guard let kind = WordKind.allCases.first(where: { WordKind.name($0.rawValue) == name }) else { return nil }
        self = kind
    }

    /// The name of the column and of its member.
    package static func name(_ code: Int16) -> String {
        WordKind(rawValue: code)?.member.declaration.column ?? "#\(code)"
    }
}
