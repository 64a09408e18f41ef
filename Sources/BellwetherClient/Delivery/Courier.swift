internal import Foundation

/// Brings what waits in the queue to the server, with patience: nothing is lost because a network or a server fails.
///
/// One delivery at a time in a process. Another process may deliver the same events at the same time: the server
/// recognises them.
final class Courier: Sendable {
    /// What a process learns by delivering, and forgets when it ends.
    struct Experience: Sendable {
        /// How many events an envelope has at most, after servers that took no more.
        var mostEvents = Envelope.mostEvents
        /// How many envelopes went well since that changed.
        var successes = 0
        /// Until when nothing is sent, by the clock that only goes forward: the key was refused.
        var refusedKeyUntil: TimeInterval?
        /// Whether drops are left out: an envelope with them was refused, which may be their fault.
        var leavesDropsOut = false
    }

    let queue: Queue
    let transport: any Transport
    let destination: Destination
    let clock: DeviceClock
    let backoff: Backoff
    let diagnostics: Diagnostics
    /// The longest that one request may take, in seconds.
    let patience: TimeInterval
    let experience = Guarded(Experience())
    /// How long after a refused key the next try is, in seconds: the refusal may have been the server's mistake.
    static let pauseOfKey: TimeInterval = 6 * 3600
    private let turn = Turn()
    private let activity: ExpiringActivity
    private let thread = DispatchQueue(label: "bellwether.delivery", qos: .userInitiated)

    init(
        queue: Queue, transport: any Transport, destination: Destination, clock: DeviceClock = .system,
        backoff: Backoff = Backoff(), diagnostics: Diagnostics = Diagnostics(), patience: TimeInterval = 60,
        activity: ExpiringActivity = .system
    ) {
        self.queue = queue
        self.transport = transport
        self.destination = destination
        self.clock = clock
        self.backoff = backoff
        self.diagnostics = diagnostics
        self.patience = patience
        self.activity = activity
    }

    /// Delivers until nothing waits, it makes no sense to go on, the time is over, or the task is cancelled.
    func deliver(within seconds: TimeInterval) async -> DeliveryResult {
        let deadline = clock.uptime() + seconds
        // Whatever becomes of the delivery.
        let patience = min(seconds, Queue.patienceOfDelivery)
        if queue.hasWaiting { try? await disk { try $0.writeWaiting(within: patience) } }
        guard destination.isSafe else { return .insecureServer }
        guard await turn.take(within: seconds, clock) else { return .outOfTime }
        defer { turn.give() }
        // A disk that does not do it now will do it next time.
        try? await disk { try $0.takeUpHeldBack() }
        experience.withLock { $0.leavesDropsOut = false }
        while true {
            do {
                if let result = try await step(until: deadline) { return result }
            } catch is ExpiringActivity.Refusal {
                return .outOfTime
            } catch QueueError.busy where clock.uptime() >= deadline {
                return .outOfTime
            } catch {
                diagnostics.post(
                    Diagnostic(.deliveryFailed, "What waits could not be read: \(error). It is tried again.", count: 0))
                return .unavailable
            }
        }
    }

    /// Sends one envelope, or waits until it may be sent. Gives nothing if there is more to do.
    private func step(until deadline: TimeInterval) async throws -> DeliveryResult? {
        let known = experience.withLock { $0 }
        if let until = known.refusedKeyUntil, clock.uptime() < until { return .keyRefused }
        let room = Envelope.longest - Courier.frame
        let patience = min(deadline - clock.uptime(), Queue.patienceOfDelivery)
        let next = try await disk { try $0.next(events: known.mostEvents, bytes: room, within: patience) }
        guard var batch = next else { return .delivered }
        if known.leavesDropsOut { batch.drops = [] }
        if batch.events.isEmpty, batch.drops.isEmpty { return .delivered }
        let now = clock.wall()
        let wait = TimeInterval(try await disk { try $0.pace }.remaining(at: now.milliseconds)) / 1000
        let left = deadline - clock.uptime()
        if wait > 0 {
            guard wait < left else { return .waiting(until: now.addingTimeInterval(wait)) }
            do { try await clock.sleep(wait) } catch { return .outOfTime }
            return nil
        }
        guard left > 0, !Task.isCancelled else { return .outOfTime }
        switch try await post(batch, within: left) {
        case nil: return .outOfTime
        case .settled(let refused): try await settle(batch, refused)
        case .refused(let status, let detail): return try await divide(batch, status, detail, until: deadline)
        case .keyRefused(let status): return pause(status)
        case .later(let reason, let retryAfter): try await putOff(reason, retryAfter)
        }
        return nil
    }

    /// What is around events and source in an envelope: time, names, and drops, of which there are six at most.
    private static let frame = 4 << 10

    /// Works on the queue where waiting for the disk or for another process stops no other task: within an activity, so that
    /// the system does not suspend us with the queue in hand, and as urgently as the main thread, which may wait for it.
    func disk<Result: Sendable>(_ body: @escaping @Sendable (Queue) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            activity.perform("Bellwether writes down what was sent") { [thread, queue] done in
                thread.async(qos: .userInitiated, flags: .enforceQoS) {
                    let result = Swift.Result { try body(queue) }
                    done()
                    continuation.resume(with: result)
                }
            } hurry: {
                // It takes moments, and is awaited.
            } refused: {
                continuation.resume(throwing: ExpiringActivity.Refusal())
            }
        }
    }

    /// Sends an envelope. Gives nothing if our own time was too short for an answer: nobody is to blame then.
    func post(_ batch: Batch, within seconds: TimeInterval) async throws -> Verdict? {
        let now = clock.wall()
        let envelope = Envelope(batch, sentAt: Moment(now))
        let headers = [
            "Authorization": "Bearer \(destination.key)", "Content-Type": "application/json",
            "Content-Encoding": "gzip", "Accept": "application/json", "User-Agent": Source.library,
        ]
        let posting = Posting(
            url: destination.events, headers: headers, body: try Gzip.pack(envelope.bytes),
            timeout: min(patience, seconds))
        let began = clock.uptime()
        do {
            let answer = try await transport.send(posting)
            // The server waited for the rest of the body as long as it does.
            if answer.status == 408 { sendLess(than: batch, least: Courier.fewWhenSlow) }
            return Verdict(answer, events: batch.events.count, now: now)
        } catch {
            guard !Task.isCancelled else { return nil }
            let took = clock.uptime() - began
            if took >= seconds && seconds < min(patience, Courier.fairTime) {
                sendLess(than: batch, least: 1)
                return nil
            }
            if took >= posting.timeout { sendLess(than: batch, least: Courier.fewWhenSlow) }
            return .later(reason: "\(error)", retryAfter: nil)
        }
    }

    /// A slow network: less fits into as long a time again.
    private func sendLess(than batch: Batch, least: Int) {
        guard batch.events.count > least else { return }
        experience.withLock { known in
            known.mostEvents = max(least, (batch.events.count + 1) / 2)
            known.successes = 0
        }
    }

    /// So few get through in the longest time that we wait, unless it is the server that stands still: then smaller
    /// envelopes would only be more of them when it is back.
    private static let fewWhenSlow = 64

    /// A server that has not answered after so many seconds is too slow, however little time we have.
    private static let fairTime: TimeInterval = 10
}
