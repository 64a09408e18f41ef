internal import Compression
internal import HTTPClient
internal import JSON
package import ServiceRuntime
package import Simulation
package import Values

/// Delivers envelopes to a server over a few connections. If the server cannot take one now, it is sent again,
/// unchanged, after a while. If the server refuses one for good, the sender stops.
package final class EnvelopeSender: Sendable {
    package struct Configuration: Sendable {
        package var server: ServerAddress
        package var connections = 4
        /// How many envelopes may wait for a connection. If there are more, `post` waits.
        package var mostWaiting = 500
        /// An envelope leaves only if every envelope in flight was due at most this many microseconds before it.
        package var span = Int64.max
        /// Returns the `sent_at` of an envelope that is about to leave. Called for each attempt, after all earlier
        /// envelopes have been taken.
        package var stamp: @Sendable (Envelope) -> Timestamp = { _ in WallClock.now }

        package init(server: ServerAddress) { self.server = server }
    }

    private struct State {
        var waiting: [KeyedEnvelope] = []
        /// How many of `waiting` have been taken.
        var taken = 0
        /// The due times of envelopes in flight, by connection number.
        var underway: [Int: Timestamp] = [:]
        var tally = PostCounts()
        var isClosed = false
        /// After this, nothing is tried again.
        var end = Deadline.never
        var failure: PostingError?
        /// Why something must be sent again; nil once something arrives.
        var trouble: String?
        /// Whether an app's rate limit has delayed something.
        var isLimited = false
    }

    private let configuration: Configuration
    private let state = Lock(State())
    private let workers = Lock<[Worker]>([])

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        let workers = (0..<configuration.connections).map { number in
            Worker(name: "post-\(number)") { self.work(number) }
        }
        self.workers.withLock { $0 = workers }
    }

    /// The results so far.
    package var tally: PostCounts { state.withLock { $0.tally } }

    /// Why the server takes nothing at the moment; nil if it does.
    package var trouble: String? { state.withLock { $0.trouble } }

    /// Why not everything was taken in time.
    package var delay: String {
        state.withLock { $0.isLimited ? EnvelopeSender.limited : $0.trouble ?? "it was too slow" }
    }

    private static let limited = "it limits the rate of the app (429)"

    /// Checks, without an event, that the server answers and accepts the key. "Later" counts as an answer.
    package static func greet(_ server: ServerAddress, key: String) throws(PostingError) {
        let delivery = Delivery(server)
        let answer: PostAnswer
        do { answer = try delivery.post(Array(#"{"events":[]}"#.utf8), key: key) } catch { throw .unreachable(error) }
        if case .never(let error) = answer { throw error }
    }

    /// Adds envelopes in the order of their due times. Waits while there are too many, and throws if nothing can be
    /// posted any more. After `close`, even during a call, it takes none.
    package func post(_ envelopes: [KeyedEnvelope]) throws(PostingError) {
        guard !envelopes.isEmpty else { return }
        let failure: PostingError?? = state.wait(until: .never) { state in
            if let failure = state.failure { return .some(failure) }
            let isFull = state.waiting.count - state.taken >= self.configuration.mostWaiting
            return isFull && !state.isClosed ? nil : .some(nil)
        }
        if let failure, let failure { throw failure }
        state.withLockNotifying { state in
            guard !state.isClosed else { return }
            state.waiting.removeFirst(state.taken)
            state.taken = 0
            state.waiting.append(contentsOf: envelopes)
        }
    }

    /// Waits until all envelopes have arrived. False if the deadline came first.
    package func drain(until deadline: Deadline = .never) throws(PostingError) -> Bool {
        let outcome: Result<Void, PostingError>? = state.wait(until: deadline) { state in
            if let failure = state.failure { return .failure(failure) }
            return state.waiting.count == state.taken && state.underway.isEmpty ? .success(()) : nil
        }
        try outcome?.get()
        return outcome != nil
    }

    /// Takes no more envelopes, gives up those that have not arrived by the deadline, and returns the results.
    package func close(by deadline: Deadline) -> PostCounts {
        state.withLockNotifying { state in
            state.isClosed = true
            state.end = deadline
        }
        for worker in workers.withLock({ $0 }) { worker.join() }
        return state.withLock { state in
            state.tally.unsent += state.waiting[state.taken...].reduce(0) { $0 + $1.envelope.events }
            state.waiting.removeAll()
            state.taken = 0
            return state.tally
        }
    }

    private func work(_ number: Int) {
        let delivery = Delivery(configuration.server)
        while let keyed = next(number) {
            let answer = bring(keyed, delivery)
            state.withLockNotifying { state in
                state.underway[number] = nil
                switch answer {
                case .taken(let accepted, let duplicate, let rejected):
                    state.tally.envelopes += 1
                    state.tally.sent += keyed.envelope.events
                    state.tally.accepted += accepted
                    state.tally.duplicate += duplicate
                    state.tally.rejected += rejected
                    state.trouble = nil
                case .later: state.tally.unsent += keyed.envelope.events
                case .never(let error):
                    state.tally.unsent += keyed.envelope.events
                    state.failure = state.failure ?? error
                }
            }
        }
    }

    /// The next envelope that may leave; nil if there will be none.
    private func next(_ number: Int) -> KeyedEnvelope? {
        var makesRoom = false
        let keyed: KeyedEnvelope?? = state.wait(until: .never) { state in
            if state.failure != nil || state.isClosed && state.end.hasPassed { return .some(nil) }
            guard state.taken < state.waiting.count else { return state.isClosed ? .some(nil) : nil }
            let keyed = state.waiting[state.taken]
            if let first = state.underway.values.min(), keyed.envelope.time - first > self.configuration.span {
                return nil
            }
            makesRoom = state.waiting.count - state.taken == self.configuration.mostWaiting
            state.taken += 1
            state.underway[number] = keyed.envelope.time
            return keyed
        }
        // Wakes a caller of `post` that waits for room.
        if makesRoom { state.withLockNotifying { _ in } }
        return keyed ?? nil
    }

    /// Sends an envelope until it is taken, refused for good, or given up.
    private func bring(_ keyed: KeyedEnvelope, _ delivery: Delivery) -> PostAnswer {
        var backoff = Backoff(first: 0.25, most: 20)
        while true {
            let body = keyed.envelope.body(sentAt: configuration.stamp(keyed.envelope))
            var answer = PostAnswer.later(status: 0, seconds: 0)
            var trouble = ""
            do throws(HTTPClientError) {
                answer = try delivery.post(body, key: keyed.key)
                if case .later(let status, _) = answer {
                    trouble = status == 429 ? EnvelopeSender.limited : "it answers \(status)"
                    if status == 429 { state.withLock { $0.isLimited = true } }
                }
            } catch {
                guard error.mayPass else { return .never(.unreachable(error)) }
                trouble = "\(error)"
            }
            guard case .later(_, let seconds) = answer else { return answer }
            guard rest(max(seconds, backoff.next()), trouble) else { return answer }
        }
    }

    /// Waits before the next attempt; false if there should be none.
    private func rest(_ seconds: Double, _ trouble: String) -> Bool {
        state.withLock { $0.trouble = trouble }
        let deadline = Deadline.after(seconds: seconds)
        let isOver: Bool? = state.wait(until: deadline) { state in
            // If the next attempt would be after the end, do not wait for it.
            state.failure != nil || state.end <= deadline ? true : nil
        }
        guard isOver == nil else { return false }
        state.withLock { $0.tally.retried += 1 }
        return true
    }
}
