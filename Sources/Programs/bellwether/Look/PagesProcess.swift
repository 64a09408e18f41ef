internal import Console
internal import Glibc
internal import HTTPServer
internal import ServiceRuntime

/// The web pages beside the service: `look`, as a process of its own. Nothing that a page does can end the process that
/// accepts events. If it ends, it is started again; if the service ends, however that happens, the pages end, too.
final class PagesProcess: Sendable {
    /// In the other process: its lifeline and its sockets, `3:4,5`.
    static let variable = "BELLWETHER_PAGES_BESIDE"

    private struct State {
        var process: OwnProcess?
        var isStopping = false
        var starts = 0
        /// As a shell says it: 128 + n for signal n.
        var lastExit: Int32?
    }

    private let door: Door
    private let words: [String]
    private let variables: [String: String?]
    private let state = Lock(State())
    private let worker = Lock(Worker?.none)
    private let log: Log
    /// Told why it ended, each time. It may take a few seconds.
    private let noteEnding: @Sendable (String) -> Void

    /// After so many seconds, an end is a new fault and not the old one again.
    private static let secondsOfHealth = 60.0
    private static let longestPause = 30.0

    /// Listens at once, so that a fault of the address is told before anything starts.
    init(
        at address: HTTPServerConfiguration.Address, words: [String], variables: [String: String?], log: Log,
        noteEnding: @escaping @Sendable (String) -> Void
    ) throws(HTTPServerError) {
        door = try Door(address)
        (self.words, self.variables, self.log, self.noteEnding) = (words, variables, log, noteEnding)
    }

    /// Where it listens.
    var address: HTTPServerConfiguration.Address { door.address }

    /// Whether there is such a process now, how often one was started again, and the exit status of the last that
    /// ended.
    var health: (isUp: Bool, restarts: Int, lastExit: Int32?) {
        state.withLock { state in (state.process != nil, max(0, state.starts - 1), state.lastExit) }
    }

    func start() {
        worker.withLock { $0 = Worker(name: "pages") { [self] in run() } }
    }

    func readCertificateAnew() { state.withLock { $0.process }?.send(SIGHUP) }

    func stop(deadline: Deadline) {
        let process = state.withLockNotifying { state in
            state.isStopping = true
            return state.process
        }
        process?.end(by: deadline)
        worker.withLock { $0 }?.join()
    }

    private func run() {
        var pause = Backoff(first: 0.1, most: Self.longestPause)
        while !state.withLock({ $0.isStopping }) {
            let begun = Deadline.now
            let why = runOnce()
            guard !state.withLock({ $0.isStopping }) else { return }
            if Deadline.now.seconds(since: begun) > Self.secondsOfHealth { pause.reset() }
            log.error("the web pages ended and are started again; events are accepted as before", ["why": why])
            noteEnding(why)
            _ = state.wait(until: .after(seconds: pause.next())) { $0.isStopping ? true : nil }
        }
    }

    private var listen: String {
        if case .unix(let path) = door.address { "unix:\(path)" } else { "\(door.address)" }
    }

    /// Returns why it ended.
    private func runOnce() -> String {
        guard let lifeline = Lifeline() else { return "no file is left to open" }
        let files = door.descriptors.map(String.init).joined(separator: ",")
        let process: OwnProcess
        do throws(OwnProcess.Failure) {
            process = try OwnProcess(
                ["look", "--listen", listen] + words,
                variables: variables.merging([Self.variable: "\(lifeline.theirs):\(files)"]) { $1 },
                inheriting: [lifeline.theirs] + door.descriptors)
        } catch { return "it cannot be started: \(error)" }
        let isStopping = state.withLock { state in
            state.process = process
            state.starts += 1
            return state.isStopping
        }
        if isStopping { process.send(SIGTERM) }
        let ending = process.wait()
        state.withLock { state in (state.process, state.lastExit) = (nil, ending.status) }
        return "\(ending)"
    }

    /// What this process has of the one that started it; nil if nobody did.
    static var inherited: (lifeline: Int32, sockets: [Int32])? {
        guard let text = unsafe getenv(variable) else { return nil }
        let parts = unsafe String(cString: text).split(separator: ":")
        guard parts.count == 2, let lifeline = Int32(parts[0]) else { return nil }
        return (lifeline, parts[1].split(separator: ",").compactMap { Int32($0) })
    }
}
