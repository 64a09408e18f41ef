import Telemetry

/// The keys and words of events, for the fuzzer.
package enum FuzzerWords {
    package static var text: String {
        let words = Member.allCases.flatMap { [$0.key] + $0.words } + EventType.allCases.map(\.wire)
        return Set(words).sorted().map { "\"\($0)\"\n" }.joined()
    }
}
