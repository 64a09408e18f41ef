internal import Values

/// The service's log: one line per event on standard error, plain text on a terminal, JSON objects elsewhere.
///
/// Values are escaped, because they are data. Never log a secret.
package struct Log: Sendable {
    package enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, warning, error

        private var weight: Int {
            switch self {
            case .debug: 0
            case .info: 1
            case .warning: 2
            case .error: 3
            }
        }

        package static func < (left: Level, right: Level) -> Bool { left.weight < right.weight }
    }

    package enum Style: Sendable { case lines, json }

    /// Ordered, so that lines of the same kind look alike.
    package typealias Fields = KeyValuePairs<String, String>

    private let least: Level
    private let style: Style
    private let sampler: LogSampler?
    private let write: @Sendable (String) -> Void

    /// The limit for a message or a value; the rest is cut off. They may contain text from strangers.
    private static let mostBytes = 4096

    /// `write` gets whole lines, including the newline.
    package init(least: Level = .info, style: Style, write: @escaping @Sendable (String) -> Void) {
        self.init(least: least, style: style, sampler: nil, write: write)
    }

    /// With a sampler, some lines are left out.
    init(least: Level, style: Style, sampler: LogSampler?, write: @escaping @Sendable (String) -> Void) {
        self.least = least
        self.style = style
        self.sampler = sampler
        self.write = write
    }

    /// To standard error, in the style that fits it.
    package static func standardError(least: Level = .info) -> Log {
        Log(least: least, style: StandardStream.error.isTerminal ? .lines : .json) { line in
            StandardStream.error.write(line)
        }
    }

    /// Writes nothing.
    package static let silent = Log(style: .lines) { _ in }

    package func debug(_ message: String, _ fields: Fields = [:], file: String = #fileID, line: UInt = #line) {
        log(.debug, message, fields, LogSampler.Kind(file: file, line: line))
    }
    package func info(_ message: String, _ fields: Fields = [:], file: String = #fileID, line: UInt = #line) {
        log(.info, message, fields, LogSampler.Kind(file: file, line: line))
    }
    package func warning(_ message: String, _ fields: Fields = [:], file: String = #fileID, line: UInt = #line) {
        log(.warning, message, fields, LogSampler.Kind(file: file, line: line))
    }
    package func error(_ message: String, _ fields: Fields = [:], file: String = #fileID, line: UInt = #line) {
        log(.error, message, fields, LogSampler.Kind(file: file, line: line))
    }

    /// A line of the level info that is never left out: for what somebody may have to account for, and which costs far
    /// more than its line.
    package func record(_ message: String, _ fields: Fields) {
        if .info >= least { write(.info, message, fields) }
    }

    /// How many lines the sampler has left out.
    var sampledOut: Int { sampler?.total ?? 0 }

    /// Logs how many lines of each kind were left out, for windows that have ended, or for `all`.
    func tellWhatWasLeftOut(all: Bool) {
        for leftOut in sampler?.settle(all: all) ?? [] { tell(leftOut) }
    }

    private func tell(_ leftOut: LogSampler.LeftOut) {
        write(leftOut.level, leftOut.message, ["left out": "\(leftOut.count)"])
    }

    private func log(_ level: Level, _ message: String, _ fields: Fields, _ kind: LogSampler.Kind) {
        guard level >= least else { return }
        if let sampler {
            let (isWritten, before) = sampler.admit(kind, level, message)
            if let before { tell(before) }
            guard isWritten else { return }
        }
        write(level, message, fields)
    }

    private func write(_ level: Level, _ message: String, _ fields: Fields) {
        let message = Log.clipped(message)
        switch style {
        case .json:
            var line = "{\"time\":\"\(WallClock.now)\",\"level\":\"\(level.rawValue)\",\"message\":"
            line.appendJSON(message)
            for (name, value) in fields {
                line += ","
                line.appendJSON(name)
                line += ":"
                line.appendJSON(Log.clipped(value))
            }
            write(line + "}\n")
        case .lines:
            var line = "\(WallClock.now.description.dropFirst(11)) \(level.rawValue): "
            line.appendPrintable(message)
            for (name, value) in fields {
                line += " \(name)="
                line.appendPrintable(Log.clipped(value))
            }
            write(line + "\n")
        }
    }

    private static func clipped(_ text: String) -> String {
        guard text.utf8.count > mostBytes else { return text }
        // A character cut in half becomes U+FFFD.
        return String(decoding: text.utf8.prefix(mostBytes), as: UTF8.self) + "…"
    }
}
