internal import Foundation

/// Prints what the developer wants to see without writing code for it.
///
/// A line has no content of a notification: a diagnostic's text, or an event's type and id. A process prints at most so
/// many lines, so that an endless fault fills no log.
final class Logbook: Sendable {
    static let mostLines = 10_000

    private let level: Bellwether.Log
    private let print: @Sendable (String) -> Void
    private let lines = Guarded(0)

    init(_ level: Bellwether.Log, print: @escaping @Sendable (String) -> Void = Logbook.system) {
        self.level = level
        self.print = print
    }

    /// A problem.
    func tell(_ diagnostic: Diagnostic) {
        if level != .nothing { write("\(diagnostic.kind.rawValue): \(diagnostic.message)") }
    }

    /// What only somebody who develops wants to see.
    func note(_ text: @autoclosure () -> String) {
        if level == .debug { write(text()) }
    }

    private func write(_ text: String) {
        let line = lines.withLock { lines in
            lines += 1
            return lines
        }
        if line < Logbook.mostLines { print("Bellwether: \(text)") }
        if line == Logbook.mostLines { print("Bellwether: this process prints nothing more") }
    }

    /// The text is no format: a percent sign in it would be taken for one.
    private static let system: @Sendable (String) -> Void = { NSLog($0.replacingOccurrences(of: "%", with: "%%")) }
}
