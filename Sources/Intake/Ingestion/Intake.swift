package import ServiceRuntime
package import Values

/// What the routes with a key need of their process.
package struct Intake: Sendable {
    let keys: KeyDirectory
    let decoding: Decoding
    let destinations: Destinations
    let metrics: IngestionMetrics
    let log: Log
    /// The time when something is received, if that is not the machine's.
    let clock: (@Sendable () -> Timestamp)?
    let isDraining: @Sendable () -> Bool

    package init(
        keys: KeyDirectory, decoding: Decoding, destinations: Destinations, metrics: IngestionMetrics, log: Log,
        clock: (@Sendable () -> Timestamp)? = nil, isDraining: @escaping @Sendable () -> Bool
    ) {
        (self.keys, self.decoding, self.destinations) = (keys, decoding, destinations)
        (self.metrics, self.log) = (metrics, log)
        (self.clock, self.isDraining) = (clock, isDraining)
    }
}
