internal import CLibPQ

extension Connection {
    /// Sends several statements and reads their answers in one round trip, so that no lock is held while an answer
    /// travels. Throws the first failure; the statements after it do not run.
    package mutating func pipeline(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
        try begin()
        // Parsing a new statement costs one round trip, once; preparing inside the pipeline would complicate its
        // errors.
        for statement in statements { try prepare(statement) }
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw broken() }
        for statement in statements { try send(prepared: statement) }
        guard unsafe PQpipelineSync(handle) == 1 else { throw broken() }
        try flush()
        var answers: [Rows] = []
        var failure: PostgresError?
        for _ in statements {
            while let result = unsafe try nextResult() {
                switch unsafe PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK: unsafe answers.append(Rows(adopting: result))
                case PGRES_PIPELINE_ABORTED: unsafe PQclear(result)
                default:
                    failure = unsafe failure ?? Connection.failure(in: result)
                    unsafe PQclear(result)
                }
            }
            if unsafe PQstatus(handle) == CONNECTION_BAD { throw failure.map { outcome(of: $0) } ?? broken() }
        }
        // The synchronisation point is a result of its own.
        while let result = unsafe try nextResult() {
            let isSync = unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC
            unsafe PQclear(result)
            if isSync { break }
        }
        guard unsafe PQexitPipelineMode(handle) == 1 else { throw broken() }
        if let failure { throw failure }
        return answers
    }

    /// Lets the server parse a statement, once for each connection.
    mutating func prepare(_ statement: Statement) throws(PostgresError) {
        let preparation = Preparation(of: statement)
        guard prepared[preparation] == nil else { return }
        let (name, types) = ("bw\(prepared.count)", preparation.types)
        guard unsafe PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else { throw broken() }
        _ = try finish()
        prepared[preparation] = name
    }

    /// Queues a statement that was prepared.
    mutating func send(prepared statement: Statement) throws(PostgresError) {
        let name = prepared[Preparation(of: statement)] ?? ""
        let sent = unsafe withParameters(of: statement) { _, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, Int32(statement.parameters.count), values, lengths, formats, 1)
        }
        guard sent == 1 else { throw broken() }
    }
}
