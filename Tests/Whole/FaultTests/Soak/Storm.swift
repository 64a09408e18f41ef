import ServiceRuntime
import TestSupport

/// A bad network before one of the services: a part of all requests meets with something.
final class Storm: Sendable {
    private let proxy: HostileProxy
    private let isCalm: Lock<Bool>

    init(before household: Household, _ number: Int) throws {
        let isCalm = Lock(false)
        self.isCalm = isCalm
        proxy = try HostileProxy(beforeWhatever: { household[number].port }) { _, _ in
            guard !isCalm.withLock({ $0 }) else { return .pass }
            switch Int.random(in: 0..<100) {
            case 0..<2: return .reset
            case 2..<4: return .cut(share: .random(in: 0...1))
            case 4..<6: return .swallow
            case 6..<8: return .cutAnswer(share: .random(in: 0...1))
            case 8..<10: return .delay(seconds: .random(in: 0...1))
            default: return .pass
            }
        }
    }

    /// The way through it.
    var door: Load.Door { { [proxy] in HTTPClient(port: proxy.port) } }

    /// From now on everything is passed on.
    func calm() { isCalm.withLock { $0 = true } }

    func stop() { proxy.stop() }

    /// How often a request met with what, those that nothing happened to aside.
    var counts: [String: Int] { proxy.counts.filter { $0.key != "pass" } }
}
