internal import Console
internal import Posting
internal import ServiceRuntime
internal import Simulation
internal import Values

/// What the phones of a demonstration send, brought to its service through real HTTP, while the service's clock is wound
/// through the days.
final class DemoTraffic {
    /// How far the clock may be ahead of what is still on its way: well under the five minutes that make a device's
    /// clock look wrong.
    private static let span: Int64 = 3 * 60_000_000

    /// What the service must find wrong, and know already.
    private(set) var faults = 0
    private(set) var repeated = 0
    /// Sends that the service has been told of.
    private(set) var sends = 0
    /// What senders have to tell, app by app.
    private var told: [[SendText]]
    private let senders: [AppServer]
    private let office: EnvelopeSender
    private let clock: SettableClock

    /// `apps` are those that will be told to `advance`.
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

    var tally: PostTally { office.tally }

    /// Lets all apps live until a moment, and hands over what their phones send.
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

    /// Registers the categories of all apps.
    func register(_ apps: [DemoApp]) throws {
        for (app, sender) in zip(apps, senders) { try sender.register(categories: app.categoryDocument) }
    }

    /// None before its time by the service's clock: that is wound by what phones send.
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

    /// Waits until all has arrived that was sent until a moment.
    func settle(at time: Timestamp) throws {
        guard try office.drain(until: .after(seconds: 60)) else {
            throw Failure("the service did not accept everything: \(office.delay)")
        }
        clock.wind(to: time)
        try tellSends(until: time)
    }

    /// Gives up what has not arrived.
    func close() -> PostTally { office.close(by: .now) }
}

/// A clock that goes when it is wound, and never back.
///
/// Days in which everything arrived at the end would be a lie: nothing would be late, and no day would be restated. So the
/// service of a demonstration receives each envelope at the time at which its phone sends it.
final class SettableClock: Sendable {
    private let time: Lock<Timestamp>

    init(_ start: Timestamp) { time = Lock(start) }

    var now: Timestamp { time.withLock { $0 } }

    func wind(to later: Timestamp) { time.withLock { $0 = max($0, later) } }
}
