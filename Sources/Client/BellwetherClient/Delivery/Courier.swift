internal import Foundation

/// Delivers the waiting events to the server, and retries patiently: no event is lost because a network or a server
/// fails.
/// A process runs one delivery at a time. Another process may deliver the same events at the same time; the server
/// detects the duplicates.
final class Courier: Sendable {
    /// What a process learns by delivering, and forgets when it ends.
    struct Experience: Sendable {
        /// The most events that an envelope may have, reduced for servers that do not take more.
        var mostEvents: Int
        /// How many envelopes succeeded since that changed.
        var successes = 0
        /// Nothing is sent until then, by the monotonic clock, because the server refused the key.
        var refusedKeyUntil: TimeInterval?
        /// Whether to leave out drops: the server refused an envelope with drops, and they may be the cause.
        var leavesDropsOut = false
        /// When the last request began, in milliseconds of the device's clock.
        var postedAt: Int64 = 0
    }

    let queue: Queue
    let transport: any Transport
    let destination: Destination
    let clock: DeviceClock
    let backoff: Backoff
    let diagnostics: Diagnostics
    /// The longest that one request may take, in seconds.
    let patience: TimeInterval
    let experience: Guarded<Experience>
    /// The most events that an envelope has.
    let mostEvents: Int
    /// How many seconds to wait after a refused key. The refusal may have been the server's mistake.
    static let pauseOfKey: TimeInterval = 6 * 3600
    private let turn = Turn()
    private let activity: ExpiringActivity
    private let thread = DispatchQueue(label: "bellwether.delivery", qos: .userInitiated)

    init(
        queue: Queue, transport: any Transport, destination: Destination, clock: DeviceClock = .system,
        backoff: Backoff = Backoff(), diagnostics: Diagnostics = Diagnostics(), patience: TimeInterval = 60,
        activity: ExpiringActivity = .system, mostEvents: Int = Envelope.mostEvents
    ) {
        self.queue = queue
        self.transport = transport
        self.destination = destination
        self.clock = clock
        self.backoff = backoff
        self.diagnostics = diagnostics
        self.patience = patience
        self.activity = activity
        self.mostEvents = min(max(mostEvents, 1), Envelope.mostEvents)
        experience = Guarded(Experience(mostEvents: self.mostEvents))
    }

    /// Delivers until no events wait, going on is pointless, the time is over, or the task is cancelled.
    func deliver(within seconds: TimeInterval) async -> DeliveryResult {
        let deadline = clock.uptime() + seconds
        // This runs however the delivery ends.
        let patience = min(seconds, Queue.patienceOfDelivery)
        if queue.hasWaiting { try? await disk { try $0.writeWaiting(within: patience) } }
        guard destination.isSafe else { return .insecureServer }
        guard await turn.take(within: seconds, clock) else { return .outOfTime }
        defer { turn.give() }
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

    /// Sends one envelope, or waits until it may be sent. Returns nil if there is more to do.
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

    /// Room for the rest of an envelope: the time, the names, and at most six drops.
    private static let frame = 4 << 10

    /// Runs `body` on the queue's own thread, so that waiting for the disk or another process blocks no other task. It
    /// runs within an activity, so that the system does not suspend us while we hold the queue, and with the main
    /// thread's priority, because the main thread may wait for it.
    func disk<Result: Sendable>(_ body: @escaping @Sendable (Queue) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            activity.perform("Bellwether writes down what was sent") { [thread, queue] done in
                thread.async(qos: .userInitiated, flags: .enforceQoS) {
                    let result = Swift.Result { try body(queue) }
                    done()
                    continuation.resume(with: result)
                }
            } hurry: {
                // The work takes moments, and the activity waits for it.
            } refused: {
                continuation.resume(throwing: ExpiringActivity.Refusal())
            }
        }
    }

    /// Sends an envelope. Returns nil if our own time was too short for an answer: then no one is to blame.
    func post(_ batch: Batch, within seconds: TimeInterval) async throws -> Disposition? {
        let now = clock.wall()
        experience.withLock { $0.postedAt = now.milliseconds }
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
            // The server waited as long as it could for the rest of the body.
            if answer.status == 408 { sendLess(than: batch, least: Courier.fewWhenSlow) }
            return Disposition(answer, events: batch.events.count, now: now)
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

    /// The network is slow: send fewer events in the same time.
    private func sendLess(than batch: Batch, least: Int) {
        guard batch.events.count > least else { return }
        experience.withLock { known in
            known.mostEvents = max(least, (batch.events.count + 1) / 2)
            known.successes = 0
        }
    }

    /// At least this many events get through in our longest wait, unless the server hangs. In that case, smaller
    /// envelopes would only mean more requests when it is back.
    private static let fewWhenSlow = 64

    /// A server that has not answered after this many seconds is too slow, however little time we have.
    private static let fairTime: TimeInterval = 10
}
