import Foundation
import ServiceRuntime
import TestSupport

/// What operators and analysts do beside the load, each again and again by a thread of its own, until it is stopped.
final class Errands: Sendable {
    /// How one ended.
    enum ErrandResult { case done, failed(String) }

    private struct State {
        var done: [String: Int] = [:]
        var excused: [String: Int] = [:]
        var complaints: [String] = []
        var isStopping = false
    }

    private let state = Lock(State())
    private let workers = Lock<[Worker]>([])
    private let mishaps: Mishaps

    init(beside mishaps: Mishaps) { self.mishaps = mishaps }

    /// How often each was done, and how often it failed while something happened to it.
    var done: [String: Int] { state.withLock { $0.done } }
    var excused: [String: Int] { state.withLock { $0.excused } }

    /// What failed without an excuse.
    var complaints: [String] { state.withLock { $0.complaints } }

    /// Begins one, so many seconds after another. It is given how often it was begun before.
    func run(_ name: String, every seconds: Double, _ errand: @escaping @Sendable (Int) throws -> ErrandResult) {
        let worker = Worker(name: name) { [self] in
            var number = 0
            repeat {
                let before = mishaps.quiet
                let outcome: ErrandResult
                do { outcome = try errand(number) } catch { outcome = .failed("\(error)") }
                let isExcused = before == nil || before != mishaps.quiet
                state.withLock { state in
                    switch outcome {
                    case .done: state.done[name, default: 0] += 1
                    case .failed where isExcused: state.excused[name, default: 0] += 1
                    case .failed(let why): state.complaints.append("\(name): \(why)")
                    }
                }
                number += 1
            } while state.wait(until: .after(seconds: seconds)) { $0.isStopping ? true : nil } == nil
        }
        workers.withLock { $0.append(worker) }
    }

    /// A wrong answer, for which there is no excuse.
    func complain(_ what: String) { state.withLock { $0.complaints.append(what) } }

    /// Ends all, each after what it is at.
    func stop() {
        state.withLockNotifying { $0.isStopping = true }
        for worker in workers.withLock({ $0 }) { worker.join() }
    }
}
