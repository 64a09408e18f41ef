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

    /// Runs one statement that is used often: the server parses it once for each connection.
    @discardableResult
    package mutating func queryPrepared(_ statement: Statement) throws(PostgresError) -> Rows {
        try begin()
        try prepare(statement)
        try send(prepared: statement)
        return try finish()
    }

    /// Runs a script: several statements, without parameters and rows.
    package mutating func execute(script: String) throws(PostgresError) {
        try begin()
        guard unsafe PQsendQuery(handle, script) == 1 else { throw broken() }
        _ = try finish()
    }

    /// Throws if the connection is lost.
    mutating func begin() throws(PostgresError) {
        guard isUsable else { throw .connection("the connection was lost earlier") }
    }

    /// Collects the results of what was sent: returns the last one, or throws the first error.
    mutating func finish() throws(PostgresError) -> Rows {
        try flush()
        var answer: Rows?
        var failure: PostgresError?
        while let result = unsafe try nextResult() {
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                answer = unsafe Rows(adopting: result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                // A COPY started in this way would wait for data for ever.
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

    /// The server's error; a result without SQLSTATE comes from libpq itself, and means a lost connection.
    static func failure(in result: OpaquePointer) -> PostgresError {
        let message = unsafe ServerField.message.read(from: result)
        guard let state = unsafe ServerField.state.read(from: result) else {
            let text = unsafe String(cString: PQresultErrorMessage(result))
            return .connection(message ?? text.split(whereSeparator: \.isNewline).joined(separator: "; "))
        }
        return unsafe .server(
            PostgresError.ServerMessage(
                state: SQLState(state, raisedIn: ServerField.file.read(from: result)), message: message ?? "no message",
                detail: ServerField.detail.read(from: result), hint: ServerField.hint.read(from: result),
                constraint: ServerField.constraint.read(from: result)))
    }

    /// Passes the parameters to libpq in its four parallel arrays, all binary.
    func withParameters(
        of statement: Statement,
        _ body: (
            UnsafePointer<Oid>, UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>
        ) -> Int32
    ) -> Int32 {
        let parameters = statement.parameters
        // One buffer for all values. It has at least one byte, since a null pointer for an empty value would mean NULL.
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
                // Without parameters libpq does not read the arrays, but it gets some all the same.
                var none: UnsafePointer<CChar>?
                return unsafe withUnsafePointer(to: &none) { none in
                    unsafe body(types, values.baseAddress ?? none, lengths, formats)
                }
            }
        }
    }
}
