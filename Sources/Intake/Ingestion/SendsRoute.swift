internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Sends
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Route {
    /// `POST /v1/sends`: stores what a sender's server reports about its sends.
    static let sends = Route(
        "POST", "/v1/sends", "Sends", "Report what was sent",
        Demands(
            keys: [.server],
            wrongKind:
                "Sends are reported with a server key ('bellwether app key add --server'); this is a write key.",
            body: .json([.json], upTo: Bounds.unpackedBody), storesTime: true)
    ) { intake in
        let route = SendsRoute(destinations: intake.destinations, metrics: intake.metrics)
        return { request in route.receive(request) }
    }
}

private struct SendsRoute: Sendable {
    let destinations: Destinations
    let metrics: IngestionMetrics

    func receive(_ request: Unpacked) {
        let table = destinations.table
        do throws(Problem) {
            // They begin in the first cell.
            if let fault = table.first.clockFault(request.received) { throw Problem(wrongClock: fault) }
            let receipt = SendStore.Arrival(
                app: request.access.app, key: request.access.key, receivedAt: request.received.time)
            store(try Self.decode(request.body), bytes: request.body.count, receipt, in: table, request.answer)
        } catch { request.answer.send(error) }
    }

    private static func decode(_ body: [UInt8]) throws(Problem) -> [SendsDecoder.Item] {
        // These requests are rare, so each gets a new decoder.
        do throws(SendsFault) { return try SendsDecoder().decode(envelope: body) } catch {
            throw Problem(reading: error)
        }
    }

    private func store(
        _ items: [SendsDecoder.Item], bytes: Int, _ receipt: SendStore.Arrival, in table: Destinations.Table,
        _ answer: Answer
    ) {
        let sends = items.compactMap { try? $0.get() }
        let metrics = self.metrics
        // The body, and the strings and rows made of it.
        table.share(of: receipt.app, bytes: 3 * bytes + items.count * 1024) {
            connection, isShared throws(PostgresError) in
            var isNew = try SendStore.append(sends, receipt, on: &connection)[...]
            var outcome = ResultWriter(count: items.count)
            for (index, item) in items.enumerated() {
                switch item {
                case .success(let send):
                    outcome.add(isNew.removeFirst() ? .accepted : .duplicate, at: index, id: send.id)
                case .failure(let refused): outcome.add(.rejected(refused.rejection), at: index, id: refused.id)
                }
            }
            outcome.count(in: metrics.sends)
            let rows = isShared ? try SendStore.rows(of: sends.map(\.id), app: receipt.app, on: &connection) : []
            return (outcome.response, rows)
        } answer: { response in
            answer.send(response)
        }
    }
}

extension Problem {
    fileprivate init(reading fault: SendsFault) {
        switch fault {
        case .notJSON(let detail): self.init(.notJSON, detail)
        case .notAnObject: self.init(.notAnObject, "An envelope is an object with an array 'sends'.")
        case .noSends: self.init(.missingSends, "The member 'sends' must be an array.")
        case .tooLarge: self.init(.unpackedTooLarge, fault.description)
        case .tooManySends(let count):
            self.init(.tooManySends, "The envelope has \(count) sends; at most \(SendBounds.sends) go into one.")
        }
    }
}
