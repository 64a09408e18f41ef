internal import CLibPQ

extension Connection {
    /// Runs one statement with its parameters bound.
    @discardableResult
    package mutating func query(_ statement: Statement) throws(PostgresError) -> Rows {
        try begin()
        let sent = unsafe withParameters(of: statement) { types, values, lengths, formats in
            unsafe PQsendQueryParams(
                handle, statement.sql, Int32(statement.parameters.count), types, values, lengths, formats, 1)
        }
        guard sent == 1 else { throw broken() }
        return try finish()
    }

    /// Runs one statement that comes again and again: the server parses it once a connection.
    @discardableResult
    package mutating func queryPrepared(_ statement: Statement) throws(PostgresError) -> Rows {
        try begin()
        try prepare(statement)
        try send(prepared: statement)
        return try finish()
    }

    /// Runs a script: several statements, no parameters, no rows back.
    package mutating func execute(script: String) throws(PostgresError) {
        try begin()
        guard unsafe PQsendQuery(handle, script) == 1 else { throw broken() }
        _ = try finish()
    }

    /// Refuses work on a connection that is gone.
    mutating func begin() throws(PostgresError) {
        guard isUsable else { throw .connection("the connection was lost earlier") }
    }

    /// Collects the results of what was sent: the last one is the answer, the first error is thrown.
    mutating func finish() throws(PostgresError) -> Rows {
        try flush()
        var answer: Rows?
        var failure: PostgresError?
        while let result = unsafe try nextResult() {
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                answer = unsafe Rows(adopting: result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                // A COPY through the wrong door would wait for data for ever.
                unsafe PQclear(result)
                close()
                throw .decoding("COPY goes through copyIn and copyOut")
            default:
                failure = unsafe failure ?? Connection.failure(in: result)
                unsafe PQclear(result)
            }
        }
        if let failure { throw outcome(of: failure) }
        guard let answer else { throw broken() }
        return answer
    }

    /// The server's refusal; a result without SQLSTATE is libpq's own, a lost connection.
    static func failure(in result: OpaquePointer) -> PostgresError {
        let message = unsafe ServerField.message.read(from: result)
        guard let state = unsafe ServerField.state.read(from: result) else {
            let text = unsafe String(cString: PQresultErrorMessage(result))
            return .connection(message ?? text.split(whereSeparator: \.isNewline).joined(separator: "; "))
        }
        return unsafe .server(
            PostgresError.ServerMessage(
                state: SQLState(state), message: message ?? "no message",
                detail: ServerField.detail.read(from: result), hint: ServerField.hint.read(from: result),
                constraint: ServerField.constraint.read(from: result)))
    }

    /// Lends libpq the parameters in its four parallel arrays, all binary.
    func withParameters(
        of statement: Statement,
        _ body: (
            UnsafePointer<Oid>, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
        ) -> Int32
    ) -> Int32 {
        let parameters = statement.parameters
        // One buffer for all values, and at least a byte so that an empty value is not a null pointer, which is NULL.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parameters.reduce(1) { $0 + ($1.bytes?.count ?? 0) })
        var offsets: [Int?] = []
        for parameter in parameters {
            offsets.append(parameter.bytes == nil ? nil : bytes.count)
            bytes += parameter.bytes ?? []
        }
        bytes.append(0)
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: parameters.count)
        let types = parameters.map(\.oid)
        return unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = unsafe offsets.map { offset in
                unsafe offset.flatMap { offset in unsafe start.map { unsafe $0 + offset } }
            }
            return unsafe values.withUnsafeBufferPointer { values in
                // libpq does not look at the arrays of no parameters, but it is lent some all the same.
                var none: UnsafePointer<CChar>?
                return unsafe withUnsafePointer(to: &none) { none in
                    unsafe body(types, values.baseAddress ?? none, lengths, formats)
                }
            }
        }
    }
}
