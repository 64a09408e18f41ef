internal import Postgres

extension Appender {
    package struct Configuration: Sendable {
        package var url: String
        /// Names this process in `log.batch`.
        package var node: String
        /// The most words of one app and kind. An app may have ten times as many devices and contexts.
        package var mostWords: Int32
        /// How many new words of all kinds one install, and one key, may bring within an hour, counted over all
        /// processes.
        package var newWords = NewWords()
        /// The longest that one statement may take before the connection is given up.
        package var statementSeconds: Int

        /// See `newWords`.
        package struct NewWords: Sendable {
            package var ofInstall: Int32 = 500
            package var ofKey: Int32 = 10_000

            package init() {}
        }

        package init(
            url: String, node: String, mostWords: Int32 = 100_000, newWords: NewWords = NewWords(),
            statementSeconds: Int = 10
        ) {
            self.url = url
            self.node = node
            self.mostWords = mostWords
            self.newWords = newWords
            self.statementSeconds = statementSeconds
        }
    }

    /// What a commit checks again of each submission.
    package struct Checks: OptionSet, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// That its key is still open.
        package static let keys = Checks(rawValue: 1)
        /// That this database takes the events of its installs.
        package static let place = Checks(rawValue: 2)
    }

    /// Whether another transaction may be the reason, so that trying again may help. A unique violation is either a
    /// retry that another node stored between our probe and our COPY, which the next probe sees, or another event with
    /// the same hash: if a batch is refused although the log has none of it, we find ties and break them. A check
    /// violation may come from a partition that was attached while we wrote into the default one, or from the row
    /// itself.
    static func mayHaveCrossed(_ state: SQLState, _ tries: Int) -> Bool {
        switch state {
        case .uniqueViolation, .serializationFailure, .deadlockDetected: tries < 10
        case .checkViolation: tries < 3
        default: false
        }
    }
}
