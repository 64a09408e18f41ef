internal import Accounts
internal import EventLog
internal import HTTPServer
internal import Postgres
internal import ServiceRuntime

/// Events to browsers as they commit, as server-sent events. An answer is complete: it waits until there is something
/// to tell, or some seconds, and the browser asks again from the position that the answer gave. So nobody holds a
/// thread, and every answer ends.
final class LiveFeed: Sendable {
    private struct Waiter: Sendable {
        let reply: Reply
        let filter: LogTail.Filter
        /// The apps that it may hear of; nil for all.
        let apps: [String]?
        /// Nil begins with what comes from now on.
        var position: LogPosition?
        let deadline: Deadline
    }

    private let worker = DatabaseWorker([Waiter]())
    private let url: String
    private let log: Log

    /// How many browsers may wait at once.
    private static let mostWaiting = 64
    private static let secondsPerAnswer = 8.0
    private static let secondsBetweenLooks = 0.2
    private static let mostLines = 200
    /// Who was away for longer goes on later: there is `events tail` for all of the log.
    private static let mostBatches: Int64 = 200

    init(url: String, log: Log) { (self.url, self.log) = (url, log) }

    func start() { worker.start(["look live"]) { _ in self.run() } }

    func stop() {
        worker.stop()
        turnAway()
    }

    /// Leads to one answer.
    func wait(after position: LogPosition?, _ filter: LogTail.Filter, of apps: [String]? = nil, _ reply: Reply) {
        var filter = filter
        filter.isBound = apps != nil
        let waiter = Waiter(
            reply: reply, filter: filter, apps: apps, position: position,
            deadline: .after(seconds: Self.secondsPerAnswer))
        let refused = worker.notify { waiters, readiness in
            var refused: [Waiter] = []
            if waiters.count >= Self.mostWaiting {
                refused = waiters.filter { $0.reply.hasBeenLeft }
                waiters.removeAll { $0.reply.hasBeenLeft }
            }
            if readiness != .stopping, waiters.count < Self.mostWaiting {
                waiters.append(waiter)
            } else {
                refused.append(waiter)
            }
            return refused
        }
        // Watchers that have hung up, too: a connection ends with its answer.
        for waiter in refused { waiter.reply.send(Self.refusal) }
    }

    private static let refusal = LookResponse.notice(
        503, "Too many are watching", ["Try again in a few seconds."], headers: [("Retry-After", "2")])

    private func run() {
        worker.keep(Backoff(first: 0.1, most: 2)) { () throws(PostgresError) -> Connection? in
            // No session before somebody watches.
            guard worker.next({ $0.isEmpty ? nil : true }) != nil else { return nil }
            var connection = try LogSession.open(
                url: url, role: .analyst, purpose: "look live", log: log, statementSeconds: 5)
            try connection.execute(script: LogTails.settings)
            return connection
        } work: { connection, backoff throws(PostgresError) in
            worker.goOn()
            var eyes = SessionApps()
            while worker.next({ $0.isEmpty ? nil : true }) != nil, !worker.isStopping {
                connection.deadline = .after(seconds: 10)
                try look(with: &eyes, on: &connection)
                backoff.reset()
                worker.rest(Self.secondsBetweenLooks)
            }
        } failed: { error, isNews in
            if isNews { log.warning("look: the log cannot be followed", ["error": "\(error)"]) }
            turnAway()
        }
        turnAway()
    }

    private func turnAway() {
        let waiters = worker.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.reply.send(Self.refusal) }
    }

    /// Answers those for whom something has come, or who have waited long enough.
    private func look(with eyes: inout SessionApps, on connection: inout Connection) throws(PostgresError) {
        try eyes.turn(to: nil, on: &connection)
        let cells = try LogTails.cells(on: &connection)
        let head = try LogTails.head(of: cells, on: &connection)
        let waiters = worker.withLock { waiters in
            defer { waiters = [] }
            return waiters
        }
        var left: [Waiter] = []
        // Watchers that were not reached when the database fails are turned away with the others.
        defer { worker.withLock { [left] waiters in waiters += left } }
        for (place, waiter) in waiters.enumerated() {
            guard !waiter.reply.hasBeenLeft else {
                waiter.reply.send(Self.events([], position: waiter.position ?? head))
                continue
            }
            var waiter = waiter
            // Who was away for longer goes on later.
            let known = waiter.position.map { $0.among(cells) ?? head } ?? head
            let position = LogPosition(
                cells.map { cell in
                    (cell, max(min(known[cell], head[cell]), head[cell] - Self.mostBatches))
                })
            var lines: [LogTail.Line] = []
            do {
                waiter.position = try read(
                    after: position, upTo: head, cells, waiter, with: &eyes, into: &lines, on: &connection)
            } catch {
                left += waiters[place...]
                throw error
            }
            if lines.isEmpty, !waiter.deadline.hasPassed {
                left.append(waiter)
            } else {
                waiter.reply.send(Self.events(lines, position: waiter.position ?? head))
            }
        }
    }

    /// Returns the position up to which lines were read.
    private func read(
        after position: LogPosition, upTo head: LogPosition, _ cells: [String?], _ waiter: Waiter,
        with eyes: inout SessionApps, into lines: inout [LogTail.Line], on connection: inout Connection
    ) throws(PostgresError) -> LogPosition {
        guard position != head else { return position }
        try eyes.turn(to: waiter.apps, on: &connection)
        var tails = LogTails(after: position, waiter.filter, page: 100, of: cells)
        var read: [LogTail.Line] = []
        let isWhole = try tails.advance(on: &connection) { line in
            read.append(line)
            return read.count < Self.mostLines
        }
        lines = read
        var reached = tails.positionPastCut
        // Batches of other apps alone are not listed for a key that reads some: all up to the head have been read.
        if isWhole, waiter.filter.isBound {
            for cell in cells { reached[cell] = max(reached[cell], head[cell]) }
        }
        return reached
    }

    static func events(_ lines: [LogTail.Line], position: LogPosition) -> Response {
        var events = lines.map { line in
            "event: \(line.isRejected ? "refused" : "accepted")\ndata: \(String(printable: line.text))\n\n"
        }
        if lines.count >= mostLines {
            events.append(
                "event: accepted\ndata: … more came at once than is shown here: see bellwether events tail\n\n")
        }
        // With the last of them, so that a watcher that got only a part asks for all again.
        let text = "retry: 250\n" + events.dropLast().joined() + "id: \(position)\n" + (events.last ?? "\n")
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-store"),
                ("X-Accel-Buffering", "no"),
            ] + LookResponse.safety, body: Array(text.utf8))
    }
}
