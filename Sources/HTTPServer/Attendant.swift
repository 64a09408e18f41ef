internal import Glibc
internal import ServiceRuntime
internal import Synchronization

/// The thread at the door: accepts clients, cuts the overdue, sees off those that linger.
final class Attendant: Sendable {
    private let context: ServerContext
    private let listener: Listener
    private let daemon: Daemon
    private let doorbell: Doorbell
    private let wishes = Lock(Wishes())
    /// How often deadlines are looked at while somebody is connected.
    private let interval: Double

    private struct Wishes {
        var accepts = true
        var ends = false
        var doorIsShut = false
    }

    init(context: ServerContext, listener: Listener, daemon: Daemon, doorbell: Doorbell) {
        self.context = context
        self.listener = listener
        self.daemon = daemon
        self.doorbell = doorbell
        let times = context.configuration
        let shortest = [
            times.idleTimeout, times.requestDeadline, times.bodyStallTimeout, times.parkDeadline, times.sendDeadline,
            times.discardTime, times.lingerTime,
        ].min()!
        interval = min(0.25, max(0.01, shortest / 4))
    }

    /// Stops accepting; returns when the sockets are closed.
    func shutTheDoor() {
        wishes.withLock { $0.accepts = false }
        doorbell.ring()
        _ = wishes.wait(until: .never) { $0.doorIsShut ? true : nil }
    }

    /// Lets `run` return, when nobody lingers any more.
    func end() {
        wishes.withLock { $0.ends = true }
        doorbell.ring()
    }

    func run() {
        var door = listener.descriptors
        var isShut = false
        // Out of descriptors, accepting again at once would only burn the processor.
        var pausedUntil = Deadline.now
        var nextRound = Deadline.now
        while true {
            let (accepts, ends) = wishes.withLock { ($0.accepts, $0.ends) }
            if !isShut, !accepts || ends {
                shut()
                isShut = true
                door = []
            }
            let lingering = context.lingering.descriptors
            if ends, lingering.isEmpty { return }

            let isPaused = !pausedUntil.hasPassed
            let isBusy = isPaused || !lingering.isEmpty || context.connections.count > 0
            let readable = wait(
                for: [doorbell.descriptor] + lingering + (isPaused ? [] : door), atMost: isBusy ? interval : .infinity)

            if readable.contains(doorbell.descriptor) { doorbell.clear() }
            for descriptor in door where readable.contains(descriptor) && !admit(from: descriptor) {
                pausedUntil = .after(seconds: 0.25)
            }
            context.lingering.attend()
            if nextRound.hasPassed {
                makeRound()
                nextRound = .after(seconds: interval)
            }
        }
    }

    private func shut() {
        listener.close()
        wishes.withLockNotifying { $0.doorIsShut = true }
    }

    private func makeRound() {
        let connections = context.connections.all
        let now = Deadline.now
        for connection in connections { connection.checkDeadline(now: now) }

        // libmicrohttpd waits for edges, and reads once for each: an end that comes together with the last data it does
        // not see. POLLRDHUP, which glibc shows only to those who ask for all of GNU.
        let ended: Int16 = 0x2000
        var entries = connections.map { pollfd(fd: $0.descriptor, events: ended, revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), 0) > 0 else { return }
        for (connection, entry) in zip(connections, entries) where entry.revents & ended != 0 {
            connection.clientEnded()
        }
    }

    private func wait(for descriptors: [Int32], atMost seconds: Double) -> Set<Int32> {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let timeout = seconds.isFinite ? Int32(saturating: (seconds * 1000).rounded(.up)) : -1
        guard unsafe poll(&entries, nfds_t(entries.count), timeout) > 0 else { return [] }
        return Set(entries.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Lets some clients in, not all, so that deadlines are looked at in a flood too. False when out of descriptors.
    private func admit(from descriptor: Int32) -> Bool {
        for _ in 0..<64 {
            switch listener.accept(on: descriptor) {
            case .nobody: return true
            case .exhausted:
                if context.counters.acceptFailures.add(1, ordering: .relaxed).oldValue == 0 {
                    context.log.warning("no descriptor left for a new client: raise the limit of open files")
                }
                return false
            case .connection(let client, let peer): admit(client, peer: peer)
            }
        }
        return true
    }

    private func admit(_ descriptor: Int32, peer: String) {
        let connection = Connection(server: context, descriptor: descriptor, peer: peer)
        let configuration = context.configuration
        // All clients of a Unix socket have one name.
        let limitPerPeer =
            if case .unix = configuration.listen { Int?.none } else { configuration.connectionsPerAddress }
        if context.connections.insert(connection, limit: configuration.connectionLimit, limitPerPeer: limitPerPeer) {
            context.counters.connectionsAccepted.add(1, ordering: .relaxed)
            daemon.add(connection)
        } else {
            context.counters.connectionsRefused.add(1, ordering: .relaxed)
            refuse(descriptor)
        }
    }

    private func refuse(_ descriptor: Int32) {
        guard context.configuration.tls == nil else {
            close(descriptor)
            return
        }
        let response = context.errorResponse(.overloaded)
        RawAnswer(response).send(to: descriptor)
        context.counters.countAnswer(response.status)
        context.lingering.add(descriptor)
    }
}
