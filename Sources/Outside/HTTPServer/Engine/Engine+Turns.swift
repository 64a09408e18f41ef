internal import ServiceRuntime

/// Who is served when. In a round, all who have shown a valid key have a turn after each of the other lanes; so they
/// wait for a bounded number of steps of other connections, however many there are.
extension Engine {
    func serveEverybody() {
        serveAdmitted()
        serve(.newcomers)
        serveAdmitted()
        serve(.handshakes)
        serveAdmitted()
        if visitorsAreDue { visiting.use { serve(.visitors) } }
        if askingAreDue { asking.use { serveThoseWhoAsk() } }
        serveAdmitted()
    }

    /// Whether a connection's turn is in the next round.
    var hasTurnsDue: Bool {
        !turns.isEmpty(.admitted) || !turns.isEmpty(.newcomers) || !turns.isEmpty(.handshakes) || visitorsAreDue
            || askingAreDue
    }

    /// Whether a connection waits for the end of a rest.
    var hasTurnsLater: Bool { !turns.isEmpty(.visitors) || !turns.isEmpty(.asking) }

    private var visitorsAreDue: Bool { !turns.isEmpty(.visitors) && visiting.mayGoOn }
    private var askingAreDue: Bool { !turns.isEmpty(.asking) && asking.mayGoOn }

    func queueUp(_ connection: Connection) {
        guard !connection.isQueued else { return }
        connection.isQueued = true
        let lane = connection.lane
        turns.append(connection, to: lane)
        connection.listen(lane != .asking, self)
    }

    /// Most handlers answer at once, and their answers are sent without asking the poller in between.
    private func serveAdmitted() {
        handleCommands()
        serve(.admitted)
    }

    @discardableResult private func serve(_ lane: Lane) -> [Connection] {
        let round = turns.take(lane)
        for connection in round {
            connection.isQueued = false
            if connection.proceed(self) { queueUp(connection) }
            account(for: connection)
        }
        return round
    }

    /// A connection with more to ask goes to the end of the line. Connections in the line are not polled: what they
    /// send would only wake this thread.
    private func serveThoseWhoAsk() {
        let round = serve(.asking)
        handleCommands()
        for connection in round where !connection.isQueued { connection.listen(true, self) }
    }
}

extension Connection {
    /// Where it waits for its turn.
    var lane: Lane {
        switch phase {
        case .handshaking: .handshakes
        case .lingering: .asking
        case .discarding where !isTrusted: .asking
        case _ where answersWithoutKey >= Connection.mostAnswersWithoutKey: .asking
        case _ where hasShownKey: .admitted
        case .head where answersWithoutKey == 0: .newcomers
        default: .visitors
        }
    }

    /// So many requests in a row are answered before a client has to wait behind all others. A browser asks once
    /// whether it may post.
    private static let mostAnswersWithoutKey = 2

    /// The client has sent something, perhaps after a while: a monitor that asks every few seconds never waits.
    func hear() {
        guard answersWithoutKey > 0, case .head = phase, incoming.isEmpty,
            idleSince.later(by: server.configuration.visitorRest).hasPassed
        else { return }
        answersWithoutKey = 0
    }

    /// Whether the poller reports what changes.
    func listen(_ listens: Bool, _ engine: Engine) {
        guard let socket, isListenedTo != listens else { return }
        isListenedTo = listens
        engine.poller.listen(listens, to: socket.descriptor, tag: tag)
    }
}
