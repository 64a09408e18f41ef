internal import Console
internal import ServiceRuntime

/// Says how far the import of a file is, and what an interruption leaves.
///
/// A terminal gets one line that is redrawn. A log gets a line after 64 MiB and then whenever the amount has doubled,
/// so that even a file without end makes few lines.
final class ImportProgress: Sendable {
    private struct State {
        var lines = 0
        var bytes = 0
        var next = 64 << 20
    }

    private let bar = ProgressBar()
    private let name: String
    private let state = Lock(State())

    init(of file: InputFile) { name = file.name }

    func note(_ lines: Int, _ bytes: Int) {
        let isDue = state.withLock { state in
            (state.lines, state.bytes) = (lines, bytes)
            guard bytes >= state.next else { return false }
            while state.next <= bytes, state.next < Int.max / 2 { state.next *= 2 }
            return true
        }
        bar.show(sentence)
        if isDue, !StandardStream.error.isTerminal { StandardStream.error.write(sentence + "\n") }
    }

    /// Clears the line for the result.
    func finish() { bar.clear() }

    /// The last line of an import that somebody stopped.
    func tellInterruption() {
        bar.clear()
        StandardStream.error.write(
            "Stopped. \(sentence) Nothing is stored twice, so you can import the same file again.\n")
    }

    private var sentence: String {
        let (lines, bytes) = state.withLock { ($0.lines, $0.bytes) }
        return "Read \(lines) lines (\(bytes >> 20) MiB) of \(name)."
    }
}
