import Compression
import Foundation
import FunnelOracle
import ServiceRuntime
import TestSupport

/// Clients that post all the time, keep what they have no answer for, and send it again unchanged: what a phone does.
/// Everything that was sent, and everything that was acknowledged, is on record.
final class Load: Sendable {
    /// One envelope, the same text each time: all of it follows from its seed, so that millions can be remembered.
    struct Envelope: Sendable {
        fileprivate let seed: UInt64
        fileprivate let install: String
        fileprivate let sizes: ClosedRange<Int>

        var ids: [String] { made(withBody: false).ids }
        var body: String { made(withBody: true).body }

        private func made(withBody: Bool) -> (ids: [String], body: String) {
            var numbers = SeededNumbers(seed: seed)
            let ids = (0..<Int.random(in: sizes, using: &numbers)).map { _ in Wire.id(using: &numbers) }
            guard withBody else { return (ids, "") }
            // Some of another install: another writer has a part of the envelope.
            let events = ids.enumerated().map { index, id in
                let other = index % 20 == 3 ? #","source":{"install_id":"\#(Wire.id(using: &numbers))"}"# : ""
                return AnyEvent.make(id: id, more: other, using: &numbers)
            }
            return (ids, Wire.envelope(install: install, events))
        }
    }

    /// What a client does.
    struct Habits: Sendable {
        /// How many events its envelopes hold.
        var sizes = 1...5
        /// What it rests after an envelope: without, it takes what it gets.
        var pause = 0.0
        /// What it rests when it was turned away, or had no answer.
        var patience = 0.02
        /// The share that it sends packed.
        var packed = 0.0
        /// The share of what was acknowledged that it sends once more, through any door: all of it must be known.
        var repeats = 0.0
    }

    /// A way to the service, or to one of several.
    typealias Door = @Sendable () -> HTTPClient

    private struct State {
        var sent: [Envelope] = []
        var acknowledged: [Envelope] = []
        var requests = 0
        var events = 0
        var repeats = 0
        var brokenConnections = 0
        var refusals = 0
        var surprises: [String] = []
        var isStopping = false
        var doors: [Door]
    }

    private let state: Lock<State>
    private let key: String
    private let workers = Lock<[Worker]>([])

    /// What a client rests after an envelope, unless a test says otherwise. Clients that take what they get leave
    /// nothing of a small machine to those who test beside them; `make fault` has it for itself.
    static let pause = FaultLength.isLong ? 0 : 0.01

    /// Starts so many clients of a service.
    convenience init(clients: Int = 4, pause: Double = Load.pause, on service: RunningService, key: String) {
        self.init(
            Array(repeating: Habits(pause: pause), count: clients), through: [{ service.client() }], key: key,
            seed: .random(in: .min ... .max))
    }

    /// Starts a client for each of the habits. Each goes through whichever door it comes upon; what they send follows
    /// from the seed.
    init(_ habits: [Habits], through doors: [Door], key: String, seed: UInt64) {
        self.key = key
        state = Lock(State(doors: doors))
        for (number, habits) in habits.enumerated() {
            let numbers = SeededNumbers(seed: seed &+ UInt64(number))
            let worker = Worker(name: "load-\(number)") { self.run(habits, numbers) }
            workers.withLock { $0.append(worker) }
        }
    }

    /// Where to post from now on.
    func turn(to services: RunningService...) {
        state.withLock { $0.doors = services.map { service in { service.client() } } }
    }

    /// How many envelopes were acknowledged so far.
    var acknowledgements: Int { state.withLock { $0.acknowledged.count } }

    /// How many events were acknowledged so far.
    var events: Int { state.withLock { $0.events } }

    /// How many requests were made so far, those without an answer too.
    var requests: Int { state.withLock { $0.requests } }

    /// How many acknowledged envelopes were sent again and known.
    var repeats: Int { state.withLock { $0.repeats } }

    /// How many envelopes were turned away so far.
    var refusals: Int { state.withLock { $0.refusals } }

    /// Waits until so many more envelopes were turned away.
    func isRefused(_ envelopes: Int = 5, within seconds: Double = 120) -> Bool {
        let before = refusals
        return state.wait(until: .after(seconds: seconds)) { state in
            state.refusals >= before + envelopes ? true : nil
        } == true
    }

    /// What no client may ever see: a status that is neither 200 nor 503, or a good event refused.
    var surprises: [String] { state.withLock { $0.surprises } }

    /// How often a connection could not be made or ended without an answer, or an answer took half a minute.
    var brokenConnections: Int { state.withLock { $0.brokenConnections } }

    /// The ids of all events that were acknowledged.
    var acknowledged: Set<String> { Set(state.withLock { $0.acknowledged }.flatMap(\.ids)) }

    var sent: [Envelope] { state.withLock { $0.sent } }

    /// Waits until so many more envelopes were acknowledged: the service serves.
    func isServed(_ envelopes: Int = 20, within seconds: Double = 120) -> Bool {
        let before = acknowledgements
        return state.wait(until: .after(seconds: seconds)) { state in
            state.acknowledged.count >= before + envelopes ? true : nil
        } == true
    }

    /// Ends the clients, each after its current request.
    func stop() {
        state.withLock { $0.isStopping = true }
        for worker in workers.withLock({ $0 }) { worker.join() }
    }

    /// Sends everything once more, unchanged, as often as it is told to come again, and gives what was not taken.
    func sendAllAgain() throws -> [String] {
        let doors = state.withLock { $0.doors }
        let (sent, refused) = (self.sent, Lock<[String]>([]))
        // Many at once share a commit: after a long load one by one would take as long again.
        let clients = min(16, sent.count)
        try together(clients) { number in
            let client = doors[number % doors.count]()
            for place in stride(from: number, to: sent.count, by: clients) {
                // Right after a fault some lane may still be without its connection.
                var answer = try client.post(sent[place].body, key: self.key)
                _ = try eventually {
                    guard answer.status == 503, answer["retry-after"] != nil else { return true }
                    answer = try client.post(sent[place].body, key: self.key)
                    return false
                }
                let results = try answer.results
                guard results.accepted + results.duplicate != sent[place].ids.count else { continue }
                refused.withLock { $0.append(sent[place].body) }
            }
        }
        return refused.withLock { $0 }
    }

    private func run(_ habits: Habits, _ numbers: SeededNumbers) {
        var numbers = numbers
        var install = ""
        var told = 0
        var unsettled: [Envelope] = []
        var client: HTTPClient?
        while !state.withLock({ $0.isStopping }) {
            if unsettled.isEmpty || Bool.random(using: &numbers) {
                // Another phone before long: else its few notifications would have ever more events.
                if told % 1000 < habits.sizes.upperBound { install = Wire.id(using: &numbers) }
                told += habits.sizes.upperBound
                let envelope = Envelope(seed: numbers.next(), install: install, sizes: habits.sizes)
                state.withLock { $0.sent.append(envelope) }
                unsettled.append(envelope)
            }
            let envelope = unsettled.removeFirst()
            // A connection is kept, but not for ever.
            let door = client.flatMap { numbers.next() % 64 == 0 ? nil : $0 } ?? anyDoor(&numbers)
            client = door
            do {
                guard take(try post(envelope, to: door, habits, &numbers), envelope) else {
                    unsettled.append(envelope)
                    client = nil
                    rest(habits.patience)
                    continue
                }
            } catch {
                unsettled.append(envelope)
                client = nil
                state.withLock { $0.brokenConnections += 1 }
                rest(habits.patience)
                continue
            }
            if habits.repeats > .random(in: 0..<1, using: &numbers) {
                do { doubt(try post(envelope, to: anyDoor(&numbers), habits, &numbers), envelope) } catch {
                    state.withLock { $0.brokenConnections += 1 }
                }
            }
            if habits.pause > 0 { rest(habits.pause) }
        }
    }

    private func anyDoor(_ numbers: inout SeededNumbers) -> HTTPClient {
        let doors = state.withLock { $0.doors }
        return doors[Int.random(in: 0..<doors.count, using: &numbers)]()
    }

    private func post(
        _ envelope: Envelope, to client: HTTPClient, _ habits: Habits, _ numbers: inout SeededNumbers
    ) throws -> RawClient.Answer {
        state.withLock { $0.requests += 1 }
        let body = Array(envelope.body.utf8)
        guard habits.packed > .random(in: 0..<1, using: &numbers) else { return try client.post(body, key: key) }
        return try client.post(gzip(body), key: key, headers: ["Content-Encoding": "gzip"])
    }

    /// Whether it is settled.
    private func take(_ answer: RawClient.Answer, _ envelope: Envelope) -> Bool {
        let (results, count) = (try? answer.results, envelope.ids.count)
        return state.withLockNotifying { state in
            if let results, results.accepted + results.duplicate == count {
                state.acknowledged.append(envelope)
                state.events += count
                return true
            }
            state.refusals += 1
            if answer.status != 503 || answer["retry-after"] == nil { state.surprises.append("\(answer)") }
            return false
        }
    }

    /// Looks whether what was acknowledged is known.
    private func doubt(_ answer: RawClient.Answer, _ envelope: Envelope) {
        let (results, count) = (try? answer.results, envelope.ids.count)
        state.withLock { state in
            if let results, results.duplicate == count {
                state.repeats += 1
            } else if answer.status == 503, answer["retry-after"] != nil {
                state.refusals += 1
            } else {
                state.surprises.append("acknowledged, and then: \(answer)")
            }
        }
    }

    /// A client that is turned away does not come again at once.
    private func rest(_ seconds: Double) {
        _ = state.wait(until: .after(seconds: seconds)) { state in state.isStopping ? true : nil }
    }
}

extension Shop {
    /// Starts so many clients of a service.
    func load(clients: Int = 4, pause: Double = Load.pause, on service: RunningService) -> Load {
        Load(clients: clients, pause: pause, on: service, key: app.secret)
    }
}
