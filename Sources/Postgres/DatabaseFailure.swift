/// An error of whoever works on a database, which may be the database's own: then a caller wants to know whether there is none
/// to talk to.
package protocol DatabaseFailure: Error {
    /// What the database said; nil where it is not to blame.
    var ofDatabase: PostgresError? { get }
}

extension PostgresError: DatabaseFailure {
    package var ofDatabase: PostgresError? { self }
}

extension MigrationError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(_, let error) = self { error } else { nil } }
}
