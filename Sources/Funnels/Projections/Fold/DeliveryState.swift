package import Values

/// What is kept of a delivery's events so that later ones can be merged in, whenever and in whatever order they arrive.
///
/// It is a set of observations. Merging is union, and so commutative, associative and idempotent. `trim` drops what can
/// never matter again, whatever else arrives, so a state stays small, and sets with the same meaning have the same
/// state. Stories count up to their first 1,000 events. Taps are kept one by one up to the first 1,000; the rest are
/// only counted. That is the one place where merging the same event twice would show, and the log never holds an event
/// twice.
package struct DeliveryState: Hashable, Sendable {
    package private(set) var span: Span
    /// In event order.
    package private(set) var observations: [Observation]
    /// Taps beyond the first 1,000, by action.
    package private(set) var surplusTaps: [Int32: TapCount]

    package static let mostStoryEvents = 1_000
    package static let mostTaps = 1_000

    /// How many taps of an action, and how many of them open the app.
    package struct TapCount: Hashable, Sendable {
        package var taps: Int64
        package var foreground: Int64

        package init(taps: Int64, foreground: Int64) {
            self.taps = taps
            self.foreground = foreground
        }

        static func + (left: TapCount, right: TapCount) -> TapCount {
            TapCount(taps: left.taps + right.taps, foreground: left.foreground + right.foreground)
        }
    }

    /// The least and the greatest time of each clock separately: a device's clock may run against event order.
    package struct Span: Hashable, Sendable {
        package var firstOccurredAt: Timestamp
        package var lastOccurredAt: Timestamp
        package var firstDeviceAt: Timestamp
        package var lastDeviceAt: Timestamp

        package init(
            firstOccurredAt: Timestamp, lastOccurredAt: Timestamp, firstDeviceAt: Timestamp, lastDeviceAt: Timestamp
        ) {
            self.firstOccurredAt = firstOccurredAt
            self.lastOccurredAt = lastOccurredAt
            self.firstDeviceAt = firstDeviceAt
            self.lastDeviceAt = lastDeviceAt
        }

        init(_ moment: Moment) {
            self.init(
                firstOccurredAt: moment.occurredAt, lastOccurredAt: moment.occurredAt, firstDeviceAt: moment.deviceAt,
                lastDeviceAt: moment.deviceAt)
        }

        mutating func merge(_ other: Span) {
            firstOccurredAt = min(firstOccurredAt, other.firstOccurredAt)
            lastOccurredAt = max(lastOccurredAt, other.lastOccurredAt)
            firstDeviceAt = min(firstDeviceAt, other.firstDeviceAt)
            lastDeviceAt = max(lastDeviceAt, other.lastDeviceAt)
        }
    }

    /// Takes at least one observation, in any order.
    package init(of observations: [Observation]) {
        precondition(!observations.isEmpty, "a delivery has an event")
        span = Span(observations[0].moment)
        for observation in observations.dropFirst() { span.merge(Span(observation.moment)) }
        self.observations = observations
        surplusTaps = [:]
        if observations.count > 1 { sort() }
        trim()
    }

    /// Takes stored observations, which are sorted and trimmed already.
    init(stored observations: [Observation], span: Span, surplusTaps: [Int32: TapCount]) {
        self.observations = observations
        self.span = span
        self.surplusTaps = surplusTaps
    }

    /// Adds all events of the other state.
    package mutating func merge(_ other: DeliveryState) {
        span.merge(other.span)
        observations += other.observations
        surplusTaps.merge(other.surplusTaps, uniquingKeysWith: +)
        sort()
        trim()
    }

    /// Sorts into event order and joins copies of the same observation into one.
    private mutating func sort() {
        observations.sort { $0.moment < $1.moment }
        var last = 0
        for index in observations.indices.dropFirst() {
            // Copies may have been trimmed differently. What one of them lacks, another observation says.
            if observations[index].moment == observations[last].moment { continue }
            last += 1
            if last != index { observations[last] = observations[index] }
        }
        observations.removeSubrange((last + 1)...)
    }

    private mutating func trim() {
        var trimming = Trimming(observations)
        var kept = 0
        for index in observations.indices {
            var observation = observations[index]
            guard trimming.keeps(&observation, at: index) else { continue }
            observations[kept] = observation
            kept += 1
        }
        observations.removeSubrange(kept...)
        surplusTaps.merge(trimming.surplusTaps, uniquingKeysWith: +)
    }
}
