internal import ServiceRuntime

/// Connections whose last request was answered without its body: `/metrics`, an unknown path, a request without a valid
/// key. Anybody can send such requests, without a pause and on any number of connections. So these connections have a
/// line of their own, behind all others, and a share of the time.
///
/// There is no limit on the number of such requests, neither per connection nor per address, because many phones may
/// share the address of a proxy. Who sends too many waits longer; nobody is refused.
extension Engine {
    /// How long strangers are served at a stretch. This is about how long everybody else waits for them.
    private static let stretch: Int64 = 500_000
    /// How long they wait after each stretch, at least. The processor is free for others then.
    private static let pause: Int64 = 500_000

    /// Whether strangers wait, and may be served now.
    var mayServeStrangers: Bool { !strangers.isEmpty && strangersMayGoOn.hasPassed }

    /// Serves those who have waited longest, for one stretch. A connection that has more to do goes to the end of the
    /// line.
    func serveSomeStrangers() {
        guard mayServeStrangers else { return }
        let end = Deadline(nanoseconds: Deadline.now.nanoseconds + Engine.stretch)
        var served = 0
        // Those that join meanwhile wait for the next stretch.
        let waiting = strangers.count
        while served < waiting {
            let connection = strangers[served]
            served += 1
            connection.isQueued = false
            advance(connection)
            if end.hasPassed {
                strangersMayGoOn = Deadline(nanoseconds: Deadline.now.nanoseconds + Engine.pause)
                break
            }
        }
        strangers.removeFirst(served)
    }

    /// How many milliseconds the poller may wait if there is nothing else to do.
    func rest(_ usual: Int32) -> Int32 { strangers.isEmpty ? usual : 1 }
}
