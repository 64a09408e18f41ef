internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import Sends
internal import ServiceRuntime
internal import Telemetry
package import Values

/// `POST /v1/sends`: stores what a sender's server reports about its sends.
package final class SendsRoute: Sendable {
    private let admission: Admission
    private let destinations: Destinations
    private let metrics: IngestionMetrics
    private let clock: (@Sendable () -> Timestamp)?

    /// `clock` gives the time when an envelope is received, if that is not the machine's.
    package init(
        keys: KeyDirectory, decoding: Decoding, destinations: Destinations, metrics: IngestionMetrics,
        clock: (@Sendable () -> Timestamp)? = nil, isDraining: @escaping @Sendable () -> Bool
    ) {
        admission = Admission(
            keys: keys, decoding: decoding, kinds: [.server],
            wrongKind: "Sends are reported with a server key ('bellwether app key add --server'); this is a write key.",
            unpackedLimit: Bounds.unpackedBody, isDraining: isDraining,
            clockFault: { reading in destinations.clockFault(of: reading) })
        self.destinations = destinations
        self.metrics = metrics
        self.clock = clock
    }

    func begin(_ head: RequestHead, _ answer: Answer) {
        let received = ClockReading(telling: clock)
        admission.admit(head, answer, received: received) { [self] body, access, _ in
            // They begin in the first cell.
            if let fault = destinations.table.first.clockFault(received) {
                return answer.send(Problem(wrongClock: fault))
            }
            do throws(SendsFault) {
                // These requests are rare, so each gets a new decoder.
                let items = try SendsDecoder().decode(envelope: body)
                let receipt = SendStore.Arrival(app: access.app, key: access.key, receivedAt: received.time)
                store(items, bytes: body.count, receipt, answer)
            } catch {
                answer.send(Problem(reading: error))
            }
        }
    }

    private func store(_ items: [SendsDecoder.Item], bytes: Int, _ receipt: SendStore.Arrival, _ answer: Answer) {
        let sends = items.compactMap { try? $0.get() }
        let metrics = self.metrics
        // The body, and the strings and rows made of it.
        destinations.table.share(of: receipt.app, bytes: 3 * bytes + items.count * 1024) {
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
