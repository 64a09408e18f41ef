/// What went wrong with PostgreSQL. `description` is safe to show: no statement, no parameter, no password.
package enum PostgresError: Error, Sendable {
    /// There is no usable connection: it could not be made, or it broke.
    case connection(String)
    /// The server refused a statement.
    case server(ServerMessage)
    /// The deadline passed; the connection is closed, and what the server made of the statement is unknown.
    case timedOut
    /// A value did not have the type that was asked for.
    case decoding(String)

    /// What the server said of its refusal.
    package struct ServerMessage: Sendable {
        package let state: SQLState
        package let message: String
        /// May quote stored values: for the log of a developer, not for a stranger.
        package let detail: String?
        package let hint: String?
        package let constraint: String?
    }

    static let inFailedTransaction = PostgresError.server(
        ServerMessage(
            state: .inFailedTransaction, message: "a statement of the transaction had failed, so it was rolled back",
            detail: nil, hint: nil, constraint: nil))

    package var state: SQLState? {
        if case .server(let message) = self { message.state } else { nil }
    }

    /// Whether the same work can succeed later without anybody changing it.
    package var isRetriable: Bool {
        switch self {
        case .connection, .timedOut: true
        case .server(let message): message.state.isRetriable
        case .decoding: false
        }
    }

    /// Whether it is the database that is away, and not this statement that is wrong.
    package var isUnavailable: Bool {
        switch self {
        case .connection, .timedOut: true
        case .server(let message): ["08", "53", "57", "58"].contains(message.state.errorClass)
        case .decoding: false
        }
    }
}

extension PostgresError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connection(let reason): "no connection to PostgreSQL: \(reason)"
        case .server(let message):
            "PostgreSQL says: \(message.message) (SQLSTATE \(message.state))"
                + (message.hint.map { ". Hint: \($0)" } ?? "")
        case .timedOut: "PostgreSQL did not answer in time"
        case .decoding(let reason): "PostgreSQL's answer was not what this program expects: \(reason)"
        }
    }
}
