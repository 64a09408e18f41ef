internal import Telemetry

/// The service's log: one line an event on standard error, for people on a terminal, as JSON objects elsewhere.
///
/// Values are data, so they are written escaped; never hand it a secret.
package struct Log: Sendable {
    package enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, warning, error

        package static func < (left: Level, right: Level) -> Bool {
            allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
        }
    }

    package enum Style: Sendable { case lines, json }

    /// Ordered, so that lines of one kind look alike.
    package typealias Fields = KeyValuePairs<String, String>

    private let least: Level
    private let style: Style
    private let write: @Sendable (String) -> Void

    /// `write` gets whole lines, newline included.
    package init(least: Level = .info, style: Style, write: @escaping @Sendable (String) -> Void) {
        self.least = least
        self.style = style
        self.write = write
    }

    /// To standard error, in the style that fits it.
    package static func standardError(least: Level = .info) -> Log {
        Log(least: least, style: StandardStream.error.isTerminal ? .lines : .json) { line in
            StandardStream.error.write(line)
        }
    }

    /// Says nothing.
    package static let silent = Log(style: .lines) { _ in }

    package func debug(_ message: String, _ fields: Fields = [:]) { log(.debug, message, fields) }
    package func info(_ message: String, _ fields: Fields = [:]) { log(.info, message, fields) }
    package func warning(_ message: String, _ fields: Fields = [:]) { log(.warning, message, fields) }
    package func error(_ message: String, _ fields: Fields = [:]) { log(.error, message, fields) }

    private func log(_ level: Level, _ message: String, _ fields: Fields) {
        guard level >= least else { return }
        switch style {
        case .json:
            var line = "{\"time\":\"\(WallClock.now)\",\"level\":\"\(level.rawValue)\",\"message\":"
            line.appendJSON(message)
            for (name, value) in fields {
                line += ","
                line.appendJSON(name)
                line += ":"
                line.appendJSON(value)
            }
            write(line + "}\n")
        case .lines:
            var line = "\(WallClock.now.description.dropFirst(11)) \(level.rawValue): "
            line.appendPrintable(message)
            for (name, value) in fields {
                line += " \(name)="
                line.appendPrintable(value)
            }
            write(line + "\n")
        }
    }
}
