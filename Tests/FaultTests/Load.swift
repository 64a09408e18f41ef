import Foundation
import ServiceRuntime
import TestSupport

/// Clients that post all the time, keep what they have no answer for, and send it again unchanged: what a phone does.
/// Everything that was sent, and everything that was acknowledged, is on record.
final class Load: Sendable {
    /// One envelope, the same text each time.
    struct Envelope: Sendable {
        let body: String
        let ids: [String]
    }

    private struct State {
        var sent: [Envelope] = []
        var acknowledged: Set<String> = []
        var acknowledgements = 0
        var brokenConnections = 0
        var refusals = 0
        var surprises: [String] = []
        var isStopping = false
        var service: RunningService?
    }

    private let state = Lock(State())
    private let key: String
    private let pause: Double
    private let workers = Lock<[Worker]>([])

    /// Starts so many clients of a service. `pause` is what each rests after an envelope: without, they take what they get.
    init(clients: Int = 4, pause: Double = 0, on service: RunningService, key: String) {
        self.key = key
        self.pause = pause
        state.withLock { $0.service = service }
        for number in 0..<clients {
            let worker = Worker(name: "load-\(number)") { self.run() }
            workers.withLock { $0.append(worker) }
        }
    }

    /// Where to post from now on.
    func turn(to service: RunningService) { state.withLock { $0.service = service } }

    /// How many envelopes were acknowledged so far.
    var acknowledgements: Int { state.withLock { $0.acknowledgements } }

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

    var acknowledged: Set<String> { state.withLock { $0.acknowledged } }

    var sent: [Envelope] { state.withLock { $0.sent } }

    /// Waits until so many more envelopes were acknowledged: the service serves.
    func isServed(_ envelopes: Int = 20, within seconds: Double = 120) -> Bool {
        let before = acknowledgements
        return state.wait(until: .after(seconds: seconds)) { state in
            state.acknowledgements >= before + envelopes ? true : nil
        } == true
    }

    /// Ends the clients, each after its current request.
    func stop() {
        state.withLock { $0.isStopping = true }
        for worker in workers.withLock({ $0 }) { worker.join() }
    }

    /// Sends everything once more, unchanged, and gives what was not taken.
    func sendAllAgain() throws -> [String] {
        guard let service = state.withLock({ $0.service }) else { return [] }
        let (sent, refused) = (self.sent, Lock<[String]>([]))
        // Many at once share a commit: after a long load one by one would take as long again.
        let clients = min(16, sent.count)
        try together(clients) { number in
            let client = service.client()
            for place in stride(from: number, to: sent.count, by: clients) {
                let results = try client.post(sent[place].body, key: self.key).results
                guard results.accepted + results.duplicate != sent[place].ids.count else { continue }
                refused.withLock { $0.append(sent[place].body) }
            }
        }
        return refused.withLock { $0 }
    }

    private func run() {
        let install = Wire.id()
        var unsettled: [Envelope] = []
        var client: HTTPClient?
        while !state.withLock({ $0.isStopping }) {
            if unsettled.isEmpty || Bool.random() { unsettled.append(make(install)) }
            let envelope = unsettled.removeFirst()
            client = client ?? state.withLock { $0.service }?.client()
            do {
                guard let answer = try client?.post(envelope.body, key: key) else { continue }
                if !take(answer, envelope) {
                    unsettled.append(envelope)
                    rest()
                } else if pause > 0 {
                    rest(pause)
                }
            } catch {
                client = nil
                state.withLock { $0.brokenConnections += 1 }
                unsettled.append(envelope)
                rest()
            }
        }
    }

    /// Whether it is settled.
    private func take(_ answer: RawClient.Answer, _ envelope: Envelope) -> Bool {
        let results = try? answer.results
        return state.withLockNotifying { state in
            if let results, results.accepted + results.duplicate == envelope.ids.count {
                state.acknowledgements += 1
                state.acknowledged.formUnion(envelope.ids)
                return true
            }
            state.refusals += 1
            if answer.status != 503 || answer["retry-after"] == nil { state.surprises.append("\(answer)") }
            return false
        }
    }

    private func make(_ install: String) -> Envelope {
        let ids = (0..<Int.random(in: 1...5)).map { _ in Wire.id() }
        // Some of another install: another writer has a part of the envelope.
        let events = ids.enumerated().map { index, id in
            AnyEvent.make(id: id, more: index == 3 ? #","source":{"install_id":"\#(Wire.id())"}"# : "")
        }
        let envelope = Envelope(body: Wire.envelope(install: install, events), ids: ids)
        state.withLock { $0.sent.append(envelope) }
        return envelope
    }

    /// A client that is turned away does not come again at once.
    private func rest(_ seconds: Double = 0.02) {
        _ = state.wait(until: .after(seconds: seconds)) { state in state.isStopping ? true : nil }
    }
}
