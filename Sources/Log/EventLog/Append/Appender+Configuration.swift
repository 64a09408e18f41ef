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
}
