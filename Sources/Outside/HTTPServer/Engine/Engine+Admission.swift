internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// Which clients are let in, and which connections are closed for them.
extension Engine {
    /// The most connections that linger at once. More are closed immediately.
    private static let mostLingering = 1024

    /// Accepts some clients, not all, so that other connections get their turn even in a flood.
    func admitAll() {
        mayAccept = false
        for descriptor in listener.descriptors where !admitSome(from: descriptor) { mayAccept = true }
    }

    /// False if more clients may be waiting.
    private func admitSome(from descriptor: Int32) -> Bool {
        for _ in 0..<16 {
            switch listener.accept(on: descriptor) {
            case .nobody: return true
            case .connection(let client, let peer): admit(client, peer: peer)
            case .exhausted:
                if server.counters.acceptFailures.add(1, ordering: .relaxed).oldValue == 0 {
                    server.log.warning("no file descriptor left for a new client: raise the limit on open files")
                }
                if !evict(for: .place) { acceptPause = .after(seconds: 0.25) }
                return false
            }
        }
        return false
    }

    private func admit(_ descriptor: Int32, peer: String) {
        let configuration = server.configuration
        let identity = server.identity
        let session = identity?.session(on: descriptor)
        let socket = ClientSocket(descriptor, tls: session)
        guard identity == nil || session != nil else { return }
        let connection = Connection(server: server, socket: socket, peer: peer)
        // All clients of a Unix socket have the same peer name.
        let limitPerPeer =
            if case .unix = configuration.listen { Int?.none } else { configuration.connectionsPerAddress }
        let isWelcome =
            limitPerPeer.map { peers[peer, default: 0] < $0 } != false
            && (openCount < configuration.connectionLimit || evict(for: .place))
        guard add(connection, socket) else { return }
        guard isWelcome else {
            server.counters.connectionsRefused.add(1, ordering: .relaxed)
            return refuse(connection)
        }
        server.counters.connectionsAccepted.add(1, ordering: .relaxed)
        connection.isCounted = true
        openCount += 1
        peers[peer, default: 0] += 1
        server.counters.connectionsOpen.store(openCount, ordering: .relaxed)
        account(for: connection)
        if memoryHeld > configuration.memoryLimit { makeRoom() }
    }

    /// Tells a client that there are too many, without reading from it. Through TLS, there is no way to tell it
    /// anything.
    private func refuse(_ connection: Connection) {
        guard connection.socket?.isEncrypted == false else { return connection.close(self) }
        connection.send(server.errorResponse(.overloaded), thenClose: true, self)
        _ = connection.flush(self)
        if !connection.isLingering { connection.close(self) }
    }

    /// Whether a connection may linger. It no longer counts as an open one.
    func letLinger(_ connection: Connection) -> Bool {
        guard lingeringCount < Engine.mostLingering else { return false }
        stopCounting(connection)
        lingeringCount += 1
        return true
    }

    func stopCounting(_ connection: Connection) {
        guard connection.isCounted else { return }
        connection.isCounted = false
        openCount -= 1
        let left = peers[connection.peer, default: 0] - 1
        peers[connection.peer] = left > 0 ? left : nil
        server.counters.connectionsOpen.store(openCount, ordering: .relaxed)
    }

    /// Whether this many more bytes of a body fit into memory. Bodies use at most three quarters of the memory, so that
    /// there is always room for connections. If a new body does not fit, those that have been arriving longest are
    /// given up.
    func hasRoom(for bytes: Int, beside connection: Connection) -> Bool {
        account(for: connection)
        let limit = server.configuration.memoryLimit
        while bodiesHeld + bytes > limit / 4 * 3 {
            guard giveUpBody(olderThan: connection) else { return false }
        }
        while memoryHeld + bytes > limit {
            guard evict(for: .memory) else { return false }
        }
        return true
    }

    /// Gives up the body that has been arriving longest, and tells its client to try again.
    private func giveUpBody(olderThan connection: Connection) -> Bool {
        let oldest = connections.values.filter(\.isReading).min { $0.requestDue < $1.requestDue }
        guard let oldest, oldest !== connection, oldest.requestDue < connection.requestDue else { return false }
        oldest.answer(with: .overloaded, thenClose: true, self)
        guard !oldest.isReading else { return false }
        queueUp(oldest)
        account(for: oldest)
        return true
    }

    /// Reduces memory to its limit, as far as possible.
    func makeRoom() {
        while memoryHeld > server.configuration.memoryLimit, evict(for: .memory) {}
    }

    /// What is short.
    enum Need { case place, memory }

    /// Closes connections that are not in use, starting with those that have been idle longest. If memory is short, it
    /// starts with those that hold much of it because their clients do not read. If places are short and no connection
    /// has been idle for a while, it also closes those whose body has been arriving for long, and tells their clients
    /// to try again; a new client that is about to send a request is spared for the same time. If there are many
    /// connections, it closes several at once, so that in a flood it need not look at all of them for each new client.
    /// Returns false if it could close none.
    ///
    /// So a stranger who opens every possible connection and says nothing locks nobody out: their own connections are
    /// the next to be closed. The same is true for the owner of a key who sends many bodies byte by byte.
    func evict(for need: Need) -> Bool {
        let whileAgo = Deadline(nanoseconds: Deadline.now.nanoseconds - 1_000_000_000)
        let candidates = connections.values.filter { connection in
            connection.isCounted && (connection.isExpendable || need == .place && connection.awaitsBody)
        }
        let ranked = candidates.map { connection in
            let goesFirst =
                switch need {
                case .memory: connection.isLarge
                case .place: connection.isExpendable && connection.idleSince < whileAgo
                }
            return (connection, goesFirst: goesFirst, since: connection.idleSince)
        }
        .sorted { left, right in left.goesFirst != right.goesFirst ? left.goesFirst : left.since < right.since }
        for (connection, goesFirst, _) in ranked.prefix(max(1, connections.count / 64))
        where need == .memory || goesFirst == ranked[0].goesFirst {
            if connection.isExpendable { server.counters.connectionsEvicted.add(1, ordering: .relaxed) }
            connection.giveWay(self)
        }
        return !ranked.isEmpty
    }
}

extension Connection {
    var isLingering: Bool { if case .lingering = phase { true } else { false } }
    var isReading: Bool { if case .reading = phase { true } else { false } }
    /// Whether its body is arriving, and it has no answer yet.
    fileprivate var awaitsBody: Bool { isReading && exchange?.isMade == false }
    /// Whether it uses much more memory than an idle connection.
    fileprivate var isLarge: Bool { cost > 48 << 10 }
}
