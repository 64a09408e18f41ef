package import Postgres

extension ReportError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }
}

extension ReadinessError: DatabaseFailure {
    package var ofDatabase: PostgresError? { if case .database(let error) = self { error } else { nil } }
}
