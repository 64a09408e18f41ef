internal import ServiceRuntime

/// How often a wrong key may be tried: by one address, and by all together. Keys have 256 bits, so nobody guesses one;
/// this keeps whoever tries from using up the service and filling its log.
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

    /// Whether this address may try a key now. It counts as a wrong one until `forgive`: else many could be sent at
    /// once, before the first is looked at.
    func take(_ address: String) -> Bool {
        let address = Self.neighbourhood(of: address)
        return state.withLock { state in
            guard isFree(state.all, ofAll), isFree(state.byAddress[address] ?? Tries(), ofAddress) else { return false }
            add(to: &state.all)
            if state.byAddress.count >= mostAddresses, state.byAddress[address] == nil {
                state.byAddress = state.byAddress.filter { !$0.value.until.hasPassed }
                // Too many at once: the bound of all together holds them.
                guard state.byAddress.count < mostAddresses else { return true }
            }
            add(to: &state.byAddress[address, default: Tries()])
            return true
        }
    }

    /// The key was right.
    func forgive(_ address: String) {
        state.withLock { state in
            state.all.count = max(0, state.all.count - 1)
            let address = Self.neighbourhood(of: address)
            if let tries = state.byAddress[address] { state.byAddress[address]?.count = max(0, tries.count - 1) }
        }
    }

    private func isFree(_ tries: Tries, _ most: Int) -> Bool { tries.until.hasPassed || tries.count < most }

    private func add(to tries: inout Tries) {
        if tries.until.hasPassed { tries = Tries(count: 0, until: .after(seconds: seconds)) }
        tries.count += 1
    }

    /// An IPv6 network counts as one address: whoever has it has all of its addresses.
    private static func neighbourhood(of address: String) -> String {
        guard address.contains(":") else { return address }
        // `::` stands for as many groups of zeros as are missing from eight.
        let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.split(separator: ":") }
        guard halves.count == 2 else { return halves[0].prefix(4).joined(separator: ":") }
        let zeros = [Substring](repeating: "0", count: max(0, 8 - halves[0].count - halves[1].count))
        return (halves[0] + zeros + halves[1]).prefix(4).joined(separator: ":")
    }
}
