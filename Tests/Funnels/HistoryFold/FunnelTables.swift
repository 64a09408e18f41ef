package import Projections

/// The projection as a runner keeps it: rows of deliveries, and the cells of the funnels, moved on batch by batch.
package struct FunnelTables {
    package private(set) var sums = FunnelSums()
    /// The stored bytes of each delivery's state, and its times.
    private var states: [Delivery.Name: (bytes: [UInt8], span: DeliveryState.Span)] = [:]

    package init() {}

    /// Folds a batch: of each delivery that it touches, the old contribution goes and the new one comes.
    package mutating func apply(_ batch: some Collection<WrittenLog.Row>, of log: WrittenLog) {
        var step = FunnelStep()
        for (name, observations) in WrittenLog.observations(in: batch) {
            var state = DeliveryState(of: observations)
            let old = self.state(of: name)
            if let old { state.merge(old) }
            step.replace(old.map { log.delivery(name, $0) }, with: log.delivery(name, state))
            states[name] = (state.encoded(), state.span)
        }
        sums.add(step)
    }

    package func deliveries(of log: WrittenLog) -> [Delivery] {
        states.keys.compactMap { name in state(of: name).map { log.delivery(name, $0) } }
    }

    private func state(of name: Delivery.Name) -> DeliveryState? {
        states[name].flatMap { DeliveryState(encoded: $0.bytes, span: $0.span) }
    }
}
