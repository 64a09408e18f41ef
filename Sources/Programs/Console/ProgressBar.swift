internal import ServiceRuntime

/// The progress of long work, in one line that is redrawn. It shows nothing if nobody watches.
package final class ProgressBar: Sendable {
    package init() {}

    private let isShown = StandardStream.error.isTerminal
    private let drawn = Lock((text: "", at: Deadline(nanoseconds: 0)))

    /// Shows the share done, from 0 to 1, and the current work.
    package func show(_ share: Double, _ words: String) {
        guard isShown else { return }
        let width = 30
        let filled = Int(saturating: (min(max(share, 0), 1) * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        draw("[\(bar)] \(Int(saturating: share * 100)) %  \(words)")
    }

    /// Shows the current work if the total is unknown.
    package func show(_ words: String) { if isShown { draw(words) } }

    /// Clears the line for later output.
    package func clear() { if isShown { draw("") } }

    private func draw(_ text: String) {
        drawn.withLock { drawn in
            // Redraw at most ten times a second; the final state is always drawn.
            guard text != drawn.text, text.isEmpty || drawn.at.hasPassed else { return }
            StandardStream.error.write("\r\u{1B}[K" + text)
            drawn = (text, .after(seconds: 0.1))
        }
    }
}
