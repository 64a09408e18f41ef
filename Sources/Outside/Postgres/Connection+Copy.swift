internal import CLibPQ
internal import Glibc

extension Connection {
    /// Sends rows in binary and returns how many the server stored. `sql` may have commands before the COPY, which then
    /// cost no round trip.
    @discardableResult
    package mutating func copyIn(_ sql: String, _ rows: CopyRows) throws(PostgresError) -> Int {
        try rows.check()
        try begin()
        guard unsafe PQsendQuery(handle, sql) == 1 else { throw broken() }
        try flush()
        try expect(PGRES_COPY_IN)
        unsafe try rows.chunks { chunk throws(PostgresError) in
            unsafe try self.put(chunk)
        }
        while unsafe PQputCopyEnd(handle, nil) == 0 { try waitForSocket(POLLOUT) }
        return try finish().affected
    }

    /// Reads what a `COPY … TO STDOUT (FORMAT binary)` sends, a row at a time.
    package mutating func copyOut(
        _ sql: String, _ receive: (CopyRow) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        unsafe try receiveCopy(sql) { bytes throws(PostgresError) in
            if let row = unsafe CopyRow(bytes) { try receive(row) }
        }
    }

    /// Does the same for many rows: `receive` takes the fields of each one after another.
    package mutating func copyOut(_ sql: String, fields receive: (inout CopyFields) -> Void) throws(PostgresError) {
        unsafe try receiveCopy(sql) { bytes throws(PostgresError) in
            guard var fields = unsafe CopyFields(bytes) else { return }
            receive(&fields)
        }
    }

    /// Calls `receive` with the bytes of each row, and with those of the end marker, a row of -1 fields. If it throws,
    /// the connection is closed, since the server goes on sending.
    private mutating func receiveCopy(
        _ sql: String, _ receive: (UnsafeRawBufferPointer) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        try begin()
        guard unsafe PQsendQuery(handle, sql) == 1 else { throw broken() }
        try flush()
        try expect(PGRES_COPY_OUT)
        var isFirst = true
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let length = unsafe PQgetCopyData(handle, &buffer, 1)
            switch length {
            case 0:
                try waitForSocket(POLLIN)
                guard unsafe PQconsumeInput(handle) == 1 else { throw broken() }
            case -1:
                _ = try finish()
                return
            case -2:
                throw broken()
            default:
                defer { unsafe PQfreemem(buffer) }
                let bytes = unsafe UnsafeRawBufferPointer(start: buffer, count: Int(length))
                // The first piece has the header before its row.
                let row = unsafe isFirst ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(19)) : bytes
                isFirst = false
                do { unsafe try receive(row) } catch {
                    close()
                    throw error
                }
            }
        }
    }

    private mutating func put(_ chunk: UnsafeRawBufferPointer) throws(PostgresError) {
        let bytes = unsafe chunk.baseAddress?.assumingMemoryBound(to: CChar.self)
        while true {
            switch unsafe PQputCopyData(handle, bytes, Int32(chunk.count)) {
            case 1: return
            case 0:
                try waitForSocket(POLLIN | POLLOUT)
                guard unsafe PQconsumeInput(handle) == 1 else { throw broken() }
            default: throw broken()
            }
        }
    }

    /// Checks that the server has started the COPY that was requested.
    private mutating func expect(_ status: ExecStatusType) throws(PostgresError) {
        guard let result = unsafe try nextResult() else { throw broken() }
        defer { unsafe PQclear(result) }
        switch unsafe PQresultStatus(result) {
        case status: return
        case PGRES_COMMAND_OK: return try expect(status)
        case PGRES_FATAL_ERROR:
            let failure = unsafe Connection.failure(in: result)
            while let rest = unsafe try nextResult() { unsafe PQclear(rest) }
            throw outcome(of: failure)
        default:
            // Another COPY would go on for ever, and we must not lose the answer to something else.
            close()
            throw .decoding("the server did not start the expected COPY")
        }
    }
}

extension Connection {
    /// Stores what a query selects here in a table of another database, and returns how many rows that were. The rows
    /// are held in memory meanwhile.
    @discardableResult
    package mutating func relay(
        _ select: String, to table: String, _ columns: [String], of target: inout Connection
    ) throws(PostgresError) -> Int {
        var rows = CopyRows(columns: columns.count)
        try copyOut("COPY (\(select)) TO STDOUT (FORMAT binary)") { row throws(PostgresError) in rows.append(row) }
        guard rows.count > 0 else { return 0 }
        let names = columns.map(Statement.quoted).joined(separator: ", ")
        return try target.copyIn("COPY \(table) (\(names)) FROM STDIN (FORMAT binary)", rows)
    }
}
