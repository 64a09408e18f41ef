extension Connection {
    /// How much of the other transactions' work a transaction sees.
    package enum Isolation: Sendable { case readCommitted, repeatableRead, repeatableReadOnly }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    package mutating func transaction<Result, Failure: Error>(
        _ isolation: Isolation = .readCommitted, failingWith _: Failure.Type,
        _ body: (inout Connection) throws(Failure) -> Result
    ) throws(TransactionError<Failure>) -> Result {
        do {
            switch isolation {
            case .readCommitted: try execute(script: "BEGIN ISOLATION LEVEL READ COMMITTED")
            case .repeatableRead: try execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")
            case .repeatableReadOnly: try execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            }
        } catch { throw .database(error) }
        let result: Result
        do { result = try body(&self) } catch {
            rollBack()
            throw .body(error)
        }
        // COMMIT of a failed transaction succeeds as a ROLLBACK. If the body hid the failure, it must not look like
        // success.
        guard !isInFailedTransaction else {
            rollBack()
            throw .database(.inFailedTransaction)
        }
        do { try execute(script: "COMMIT") } catch {
            rollBack()
            throw .database(error)
        }
        return result
    }

    /// Like the other `transaction`, for bodies that throw only PostgreSQL's errors.
    package mutating func transaction<Result>(
        _ isolation: Isolation = .readCommitted, _ body: (inout Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        let outcome: Swift.Result<Result, TransactionError<PostgresError>>
        do throws(TransactionError<PostgresError>) {
            outcome = .success(try transaction(isolation, failingWith: PostgresError.self, body))
        } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let result): return result
        case .failure(.database(let error)), .failure(.body(let error)): throw error
        }
    }

    /// Like `transaction`, for bodies that throw errors of several kinds.
    package mutating func inTransaction<Result>(
        _ isolation: Isolation = .readCommitted, _ body: (inout Connection) throws -> Result
    ) throws -> Result {
        do throws(TransactionError<any Error>) {
            return try transaction(isolation, failingWith: (any Error).self, body)
        } catch {
            switch error {
            case .database(let error): throw error
            case .body(let error): throw error
            }
        }
    }

    /// Makes the connection idle again, or unusable if that fails.
    package mutating func rollBack() {
        guard isUsable, isInTransaction else { return }
        do { try execute(script: "ROLLBACK") } catch { close() }
    }
}

/// Which side of a transaction failed.
package enum TransactionError<Body: Error>: Error {
    case database(PostgresError)
    case body(Body)
}
