import Foundation

/// How long a soak lasts, and by which numbers: `make soak` says so, `make test` has time for a few seconds.
enum SoakLength {
    private static let variables = ProcessInfo.processInfo.environment
    private static let asked = variables["BELLWETHER_SOAK_SECONDS"].flatMap { Double($0) }

    /// Seconds of load and faults, without what comes before and after.
    static let seconds = asked ?? 6

    /// Whether it was asked for: then somebody wants to see figures.
    static let isAsked = asked != nil

    /// Long enough for flatness to mean something.
    static let isLong = seconds >= 120

    /// What is sent, and which faults come one after another, follow from it. Told at once, since who fails has no
    /// time.
    static let seed: UInt64 = {
        let seed = variables["BELLWETHER_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
        FileHandle.standardError.write(Data("soak: seed \(seed)\n".utf8))
        return seed
    }()
}
