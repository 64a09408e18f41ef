internal import ServiceRuntime

/// How often a wrong key may be tried: by one address, and by all together. Keys have 256 bits, so nobody guesses one; this keeps
/// whoever tries from using up the service and filling its log.
final class GuessLimit: Sendable {
    private struct Tries: Sendable {
        var count = 0
        var until = Deadline.now
    }

    private struct State: Sendable {
        var byAddress: [String: Tries] = [:]
        var all = Tries()
    }

    private let state = Lock(State())
    private let ofAddress: Int
    private let ofAll: Int
    private let seconds: Double
    private let mostAddresses: Int

    init(ofAddress: Int = 10, ofAll: Int = 200, seconds: Double = 60, mostAddresses: Int = 4096) {
        (self.ofAddress, self.ofAll, self.seconds, self.mostAddresses) = (ofAddress, ofAll, seconds, mostAddresses)
    }

    /// Whether this address may try a key now.
    func allows(_ address: String) -> Bool {
        state.withLock { state in
            isFree(state.all, ofAll) && isFree(state.byAddress[Self.neighbourhood(of: address)] ?? Tries(), ofAddress)
        }
    }

    /// It tried a wrong one.
    func count(_ address: String) {
        let address = Self.neighbourhood(of: address)
        state.withLock { state in
            add(to: &state.all)
            if state.byAddress.count >= mostAddresses, state.byAddress[address] == nil {
                state.byAddress = state.byAddress.filter { !$0.value.until.hasPassed }
                // Too many at once: the bound of all together holds them.
                guard state.byAddress.count < mostAddresses else { return }
            }
            add(to: &state.byAddress[address, default: Tries()])
        }
    }

    private func isFree(_ tries: Tries, _ most: Int) -> Bool { tries.until.hasPassed || tries.count < most }

    private func add(to tries: inout Tries) {
        if tries.until.hasPassed { tries = Tries(count: 0, until: .after(seconds: seconds)) }
        tries.count += 1
    }

    /// An IPv6 network counts as one address: whoever has it has all of its addresses.
    private static func neighbourhood(of address: String) -> String {
        let groups = address.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count > 4 ? groups.prefix(4).joined(separator: ":") : address
    }
}
