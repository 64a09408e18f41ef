/// What went wrong with PostgreSQL. `description` is safe to show: no statement, no parameter, no password.
package enum PostgresError: Error, Sendable {
    /// There is no usable connection: connecting failed, or the connection broke.
    case connection(String)
    /// The server refused a statement.
    case server(ServerMessage)
    /// The deadline passed; the connection is closed, and we do not know what became of the statement.
    case timedOut
    /// A value did not have the type that was asked for.
    case decoding(String)

    /// The server's error message.
    package struct ServerMessage: Sendable {
        package let state: SQLState
        package let message: String
        /// May contain stored values: for a developer's log, not for strangers.
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

    /// Whether the same work can succeed later without any change.
    package var isRetriable: Bool {
        switch self {
        case .connection, .timedOut: true
        case .server(let message): message.state.isRetriable
        case .decoding: false
        }
    }

    /// Whether the database is away, so that the statement itself may be right.
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

/// A five-character SQLSTATE, and what this program needs to know about it.
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    package let code: String

    package init(_ code: String) { self.code = code }

    /// The state of a message that a file of PostgreSQL's sources raised. If the server may not write to its own files,
    /// because the disk has become read-only, it claims that a privilege is missing. Nobody can grant that one: it is
    /// an I/O error.
    init(_ code: String, raisedIn file: String?) {
        let state = SQLState(code)
        let isOfFiles = state == .insufficientPrivilege && file.map(SQLState.storage.contains) == true
        self = isOfFiles ? .ioError : state
    }

    package static let uniqueViolation = SQLState("23505")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let lockNotAvailable = SQLState("55P03")
    package static let queryCanceled = SQLState("57014")
    package static let undefinedTable = SQLState("42P01")
    package static let insufficientPrivilege = SQLState("42501")
    package static let invalidSchemaName = SQLState("3F000")
    package static let duplicateSchema = SQLState("42P06")
    package static let duplicateTable = SQLState("42P07")
    package static let duplicateObject = SQLState("42710")
    package static let inFailedTransaction = SQLState("25P02")
    package static let readOnlyTransaction = SQLState("25006")
    package static let dependentObjectsStillExist = SQLState("2BP01")
    package static let checkViolation = SQLState("23514")
    package static let ioError = SQLState("58030")

    /// What reads and writes the files of tables, and of the write-ahead log.
    private static let storage: Set = [
        "md.c", "fd.c", "smgr.c", "slru.c", "xlog.c", "buffile.c", "fileset.c", "sharedfileset.c", "copydir.c",
        "relmapper.c",
        "storage.c",
    ]

    /// The first two characters: the kind of condition.
    package var errorClass: Substring { code.prefix(2) }

    /// Whether the same statement can succeed later without any change.
    package var isRetriable: Bool {
        switch errorClass {
        case "08": true  // connection exception
        case "40": true  // transaction rollback: serialization failure, deadlock
        case "53": true  // insufficient resources: disk full, out of memory, too many connections
        case "57": true  // operator intervention: cancelled, shutting down, cannot connect now
        case "58": true  // system error outside PostgreSQL: I/O
        default: SQLState.retriable.contains(self)
        }
    }

    /// Whether PostgreSQL refused the statement's own values, so that no retry can help.
    package var blamesData: Bool {
        switch errorClass {
        case "21", "22", "23", "44", "54": true  // cardinality, data, integrity, check option, program limit
        default: false
        }
    }

    package var description: String { code }

    private static let retriable: Set<SQLState> = [
        lockNotAvailable,
        SQLState("55006"),  // object in use
        readOnlyTransaction,  // read only: a standby that is about to be promoted
        SQLState("25P03"),  // idle in transaction timeout
        SQLState("72000"),  // snapshot too old
    ]
}

/// An error of code that works on a database, which may be the database's own error: then a caller wants to know
/// whether the database is away.
package protocol DatabaseFailure: Error {
    /// The database's error; nil if the database is not the reason.
    var ofDatabase: PostgresError? { get }
}

/// A failure that has a case for the database's own error.
package protocol DatabaseFailureCase: DatabaseFailure {
    static func database(_ error: PostgresError) -> Self
}

extension DatabaseFailureCase {
    /// Wraps PostgreSQL's errors, and keeps our own as they are.
    package init(_ error: any Error) {
        self = error as? Self ?? .database(error as? PostgresError ?? .decoding("\(error)"))
    }
}

extension PostgresError: DatabaseFailure {
    package var ofDatabase: PostgresError? { self }
}

extension MigrationError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(_, let error) = self { error } else { nil } }
}
