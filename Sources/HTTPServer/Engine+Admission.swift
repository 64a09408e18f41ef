internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// Who may come in, and who must go for it.
extension Engine {
    /// More than so many that linger at once are closed the hard way.
    private static let mostLingering = 1024

    /// Lets some clients in, not all, so that others have their turn in a flood, too.
    func admitAll() {
        mayAccept = false
        for descriptor in listener.descriptors where !admitSome(from: descriptor) { mayAccept = true }
    }

    /// False if there may be more.
    private func admitSome(from descriptor: Int32) -> Bool {
        for _ in 0..<64 {
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
        // All clients of a Unix socket have one name.
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

    /// Says that there are too many, without a word of the client's; through TLS there is no way to say anything.
    private func refuse(_ connection: Connection) {
        guard connection.socket?.isEncrypted == false else { return connection.close(self) }
        connection.send(server.errorResponse(.overloaded), thenClose: true, self)
        _ = connection.flush(self)
        if !connection.isLingering { connection.close(self) }
    }

    /// Whether a connection may linger. It is none of those that count any more.
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

    /// Whether so many bytes more of a body may be held. Bodies take three quarters of the memory at most, so that there is
    /// always room for connections; for a new one that does not fit, those go that have been arriving for longest.
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

    /// A client that sends its body slowly, or not at all, is told to come again.
    private func giveUpBody(olderThan connection: Connection) -> Bool {
        let oldest = connections.values.filter(\.isReading).min { $0.requestDue < $1.requestDue }
        guard let oldest, oldest !== connection, oldest.requestDue < connection.requestDue else { return false }
        oldest.answer(with: .overloaded, thenClose: true, self)
        guard !oldest.isReading else { return false }
        queueUp(oldest)
        account(for: oldest)
        return true
    }

    /// Brings the memory under its limit, as far as that is possible.
    func makeRoom() {
        while memoryHeld > server.configuration.memoryLimit, evict(for: .memory) {}
    }

    /// What somebody else needs.
    enum Need { case place, memory }

    /// Closes connections that nobody waits for, and of these the ones that have been idle for longest; where it is memory that
    /// is needed, those first that hold much of it since their clients do not read. Where it is a place, and nobody has been
    /// idle for a while, those whose body has been arriving for long go, too, and are told to come again; a newcomer who is
    /// about to ask something is spared for as long. With many connections it closes some more, so that a flood does not have
    /// all of them looked at for each of its clients. False if there is none.
    ///
    /// So a stranger who opens as many connections as there may be, and says nothing, keeps nobody out: his own are the next
    /// to go. Nor does who has a key, and sends the bodies of as many requests byte by byte.
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
    var isHandshaking: Bool { if case .handshaking = phase { true } else { false } }
    /// Its body is arriving, and it has no answer yet.
    fileprivate var awaitsBody: Bool { isReading && exchange?.isMade == false }
    /// Much more than one that has nothing to do.
    fileprivate var isLarge: Bool { cost > 48 << 10 }
}
