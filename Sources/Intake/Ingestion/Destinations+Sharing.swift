internal import HTTPServer
internal import Postgres
internal import ServiceRuntime

extension Destinations.Table {
    /// What a job did in the first cell: its answer, and the rows that the other cells must have, too.
    typealias Shared = (response: Response, rows: [SharedTable.Rows])

    /// Lets the first cell do a job, and then the other cells store what it stored. Answers when all of them have it.
    /// If one of them fails, or the first cell has a newer map by then, the answer is a 503, and the same request again
    /// does the rest. Hubs get it afterwards, since nobody waits for a hub.
    ///
    /// `work` is told whether there are others. For `patience`, see `RequestWorker.submit`.
    func share(
        of app: Int32, bytes: Int, patience: Double? = nil,
        _ work: @escaping @Sendable (inout Connection, Bool) throws(PostgresError) -> Shared,
        answer: @escaping @Sendable (Response) -> Void
    ) {
        let (others, hubs, epoch, learned) = (all.dropFirst(), self.hubs, self.epoch, self.learned)
        let stored = Lock<[SharedTable.Rows]>([])
        first.requestWorker.submit(of: app, bytes: bytes, patience: patience) { connection throws(PostgresError) in
            let (response, rows) = try work(&connection, !(others.isEmpty && hubs.isEmpty))
            stored.withLock { $0 = rows }
            // After the commit: whoever adds a cell brings it what was stored before it told the map.
            let newest: Int64 = try connection.query("SELECT epoch FROM cluster.state")[0].get(0)
            guard newest <= epoch else {
                learned(newest)
                return Problem.mapChanged.response
            }
            return response
        } answer: { [self] response in
            passOn((response, stored.withLock { $0 }), of: app, answer: answer)
        }
    }

    /// Lets the other cells store what the first one stored, and answers when all have it.
    private func passOn(_ shared: Shared, of app: Int32, answer: @escaping @Sendable (Response) -> Void) {
        let (response, rows) = shared
        let others = all.dropFirst()
        guard response.status == 200, !others.isEmpty, !rows.isEmpty else { return finish(shared, answer) }
        let waiting = Lock<(cells: Int, response: Response)>((others.count, response))
        for other in others {
            other.requestWorker.submit(of: app, bytes: rows.reduce(0) { $0 + $1.bytes }) {
                connection throws(PostgresError) in
                try connection.transaction { connection throws(PostgresError) in
                    for rows in rows { try SharedTable.store(rows, on: &connection) }
                }
                return response
            } answer: { [self] own in
                let last: Response? = waiting.withLock { waiting in
                    waiting.cells -= 1
                    if own.status != 200 { waiting.response = own }
                    return waiting.cells == 0 ? waiting.response : nil
                }
                if let last { finish((last, rows), answer) }
            }
        }
    }

    /// Tells the hubs, and then the client.
    private func finish(_ shared: Shared, _ answer: @Sendable (Response) -> Void) {
        if shared.response.status == 200 {
            for tell in hubs { tell(shared.rows) }
        }
        answer(shared.response)
    }
}
