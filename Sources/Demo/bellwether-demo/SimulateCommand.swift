internal import Console
internal import Posting
internal import ServiceRuntime
internal import Simulation
internal import Values

/// Posts realistic traffic to any server until it is told to stop.
struct SimulateCommand: SimulateDeclaration {
    static let options = SimulateOptions.options.within(\Self.given)

    private var given = SimulateOptions()

    func run() throws -> ExitCode {
        Signals.prepare()
        let server = ServerAddress(given.url)
        try EnvelopeSender.greet(server, key: given.writeKey)
        let sender = given.serverKey.map { AppServer(server, key: $0) }
        try sender?.register(categories: SteadyStream.categoryDocument)
        var configuration = EnvelopeSender.Configuration(server: server)
        configuration.connections = given.connections
        let office = EnvelopeSender(configuration)
        let isStopped = Lock(false)
        _ = Worker(name: "signals") {
            _ = Signals.waitForStop()
            Signals.letTheNextOneKill()
            isStopped.withLockNotifying { $0 = true }
            // Ends the wait of a caller that waits for room.
            _ = office.close(by: .after(seconds: 10))
        }
        let failure = post(to: office, and: sender, until: isStopped)
        let tally = office.close(by: .after(seconds: failure == nil ? 10 : 0))
        StandardStream.output.write("\(tally)\n")
        if let failure { throw failure }
        guard tally.addsUp else {
            throw Failure(
                tally.unsent > 0
                    ? "the server did not accept everything: \(office.delay)"
                    : "the server answered for a different number of events than were sent")
        }
        return .done
    }

    /// Creates traffic at its rate and posts it. Returns the error that ended it; nil if the time was up or somebody
    /// stopped it.
    private func post(
        to office: EnvelopeSender, and sender: AppServer?, until isStopped: Lock<Bool>
    ) -> PostingError? {
        var stream = SteadyStream(rate: Double(given.rate), seed: given.seed, from: WallClock.now)
        // Creating the world takes a while; discard the traffic of that time.
        _ = stream.advance(to: WallClock.now)
        let end = given.seconds.map { Deadline.after(seconds: Double($0)) } ?? .never
        let start = Deadline.now
        let bar = ProgressBar()
        defer { bar.clear() }
        func isOver() -> Bool { end.hasPassed || isStopped.withLock { $0 } }
        var telling = Deadline.now
        while !isOver() {
            var envelopes = stream.advance(to: WallClock.now).map { KeyedEnvelope($0, key: given.writeKey) }[...]
            // Post a few at a time, so that a slow server does not delay us beyond the end.
            while !envelopes.isEmpty, !isOver() {
                do { try office.post(Array(envelopes.prefix(100))) } catch { return error }
                envelopes = envelopes.dropFirst(100)
                show(office, since: start, on: bar)
            }
            if let sender, telling.hasPassed {
                do { _ = try sender.tell(stream.takeSends()) } catch { return error }
                telling = .after(seconds: Self.secondsBetweenSends)
            }
            _ = isStopped.wait(until: .after(seconds: min(0.05, end.secondsLeft))) { $0 ? true : nil }
        }
        guard let sender else { return nil }
        do { _ = try sender.tell(stream.takeSends()) } catch { return error }
        return nil
    }

    private static let secondsBetweenSends = 5.0

    private func show(_ office: EnvelopeSender, since start: Deadline, on bar: ProgressBar) {
        let elapsed = Double(Deadline.now.nanoseconds - start.nanoseconds) / 1e9
        let tally = office.tally
        let trouble = office.trouble.map { ", waiting: \(String(printable: $0))" } ?? ""
        let words =
            "\(tally.sent) events, \(Int(saturating: Double(tally.sent) / max(elapsed, 0.1))) a second\(trouble)"
        if let seconds = given.seconds {
            bar.show(elapsed / Double(seconds), words)
        } else {
            bar.show("\(words) (Ctrl-C stops it)")
        }
    }
}
