internal import Postgres

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    mutating func atomically<Result>(
        _ body: (inout Connection) throws -> Result
    ) throws(StepError) -> Result {
        do {
            return try transaction(failingWith: StepError.self) { connection throws(StepError) in
                do { return try body(&connection) } catch { throw StepError(error) }
            }
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .body(let error): throw error
            }
        }
    }
}

extension StepError {
    /// Wraps PostgreSQL's errors and lets our own pass.
    init(_ error: any Error) {
        switch error {
        case let error as StepError: self = error
        case let error as PostgresError: self = .database(error)
        default: self = .database(.decoding("\(error)"))
        }
    }
}
