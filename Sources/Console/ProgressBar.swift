internal import ServiceRuntime

/// How far a long piece of work has come, in one line that is drawn over and over; nothing where nobody watches.
package final class ProgressBar: Sendable {
    package init() {}

    private let isShown = StandardStream.error.isTerminal
    private let drawn = Lock((text: "", at: Deadline(nanoseconds: 0)))

    /// Shows a share from 0 to 1 and what is being done.
    package func show(_ share: Double, _ words: String) {
        guard isShown else { return }
        let width = 30
        let filled = Int(saturating: (min(max(share, 0), 1) * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        draw("[\(bar)] \(Int(saturating: share * 100)) %  \(words)")
    }

    /// Shows what is being done, where nobody knows how much there is.
    package func show(_ words: String) { if isShown { draw(words) } }

    /// Leaves an empty line for what comes next.
    package func clear() { if isShown { draw("") } }

    private func draw(_ text: String) {
        drawn.withLock { drawn in
            // Ten times a second is as often as anybody sees; the last one always counts.
            guard text != drawn.text, text.isEmpty || drawn.at.hasPassed else { return }
            StandardStream.error.write("\r\u{1B}[K" + text)
            drawn = (text, .after(seconds: 0.1))
        }
    }
}
