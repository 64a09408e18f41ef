import Foundation

/// How long faults last: `make test` runs the quick part, `make fault` all of it, for `BELLWETHER_FAULT_SECONDS` each.
enum FaultLength {
    private static let asked = ProcessInfo.processInfo.environment["BELLWETHER_FAULT_SECONDS"].flatMap { Double($0) }

    static let isLong = asked != nil

    /// Seconds that a fault lasts: what was asked for (`least` at least), or the few that `make test` has time for.
    static func seconds(_ quick: Double, least: Double = 0) -> Double { asked.map { max($0, least) } ?? quick }

    /// Tells a figure that was seen, where somebody wants to know.
    static func report(_ figure: String) {
        if isLong { FileHandle.standardError.write(Data("seen: \(figure)\n".utf8)) }
    }
}
