internal import Console
internal import Posting
internal import ServiceRuntime
internal import Simulation
internal import Values

/// Delivers what the phones of a demonstration send to its service through real HTTP, and sets the service's clock
/// forward through the days.
final class DemoTraffic {
    /// How far the clock may be ahead of envelopes in flight: well under the five minutes that make a device's clock
    /// look wrong.
    private static let span: Int64 = 3 * 60_000_000

    /// How many events the service must reject, and how many it must already know.
    private(set) var faults = 0
    private(set) var repeated = 0
    /// The number of sends reported to the service.
    private(set) var sends = 0
    /// The sends that senders have yet to report, by app.
    private var told: [[SendText]]
    private let senders: [AppServer]
    private let office: EnvelopeSender
    private let clock: SettableClock

    /// `apps` are the apps that will be passed to `advance`.
    init(to server: ServerAddress, of apps: [DemoApp], clock: SettableClock) {
        senders = apps.map { AppServer(server, key: $0.serverKey) }
        told = apps.map { _ in [] }
        var configuration = EnvelopeSender.Configuration(server: server)
        configuration.connections = 32
        configuration.mostWaiting = 1000
        configuration.span = DemoTraffic.span
        configuration.stamp = { envelope in
            clock.wind(to: envelope.time)
            return envelope.time
        }
        office = EnvelopeSender(configuration)
        self.clock = clock
    }

    var tally: PostCounts { office.tally }

    /// Advances all apps to a moment, and posts what their phones send.
    func advance(_ apps: inout [DemoApp], to time: Timestamp) throws {
        var envelopes: [KeyedEnvelope] = []
        for index in apps.indices {
            defer { told[index] += apps[index].world.takeSends() }
            for envelope in apps[index].world.advance(to: time) {
                faults += envelope.faults.count
                repeated += envelope.repeated
                envelopes.append(KeyedEnvelope(envelope, key: apps[index].key))
            }
        }
        try office.post(envelopes.sorted { $0.envelope.time < $1.envelope.time })
        try tellSends(until: clock.now)
    }

    /// Registers the categories and experiments of all apps.
    func register(_ apps: [DemoApp]) throws {
        for (app, sender) in zip(apps, senders) {
            try sender.register(categories: app.categoryDocument)
            if let document = app.experimentDocument { try sender.register(experiments: document) }
        }
    }

    /// Reports no send before its time by the service's clock, which the phones' envelopes set.
    private func tellSends(until time: Timestamp) throws {
        for index in told.indices {
            let due = told[index].prefix { $0.time <= time }
            guard !due.isEmpty else { continue }
            let taken = try senders[index].tell(Array(due))
            guard taken.new == due.count else {
                throw Failure("the service already knows \(taken.known) sends that were new")
            }
            told[index].removeFirst(due.count)
            sends += due.count
        }
    }

    /// Waits until everything sent before a moment has arrived.
    func settle(at time: Timestamp) throws {
        guard try office.drain(until: .after(seconds: 60)) else {
            throw Failure("the service did not accept everything: \(office.delay)")
        }
        clock.wind(to: time)
        try tellSends(until: time)
    }

    /// Gives up what has not arrived.
    func close() -> PostCounts { office.close(by: .now) }
}

/// A clock that only moves when it is set, and never back.
///
/// If everything arrived at the end, the demonstration would be false: nothing would be late, and no day would be
/// restated. So its service receives each envelope at the time at which its phone sends it.
final class SettableClock: Sendable {
    private let time: Lock<Timestamp>

    init(_ start: Timestamp) { time = Lock(start) }

    var now: Timestamp { time.withLock { $0 } }

    func wind(to later: Timestamp) { time.withLock { $0 = max($0, later) } }
}
