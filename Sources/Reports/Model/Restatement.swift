package import Telemetry

/// A day that was told and has changed since.
package struct Restatement: Hashable, Sendable {
    package var day: CivilDate
    /// As the reports before this one told it last, and at which position of the log.
    package var told: DayFigures
    package var toldAt: Int64
    package var now: DayFigures

    package init(day: CivilDate, told: DayFigures, toldAt: Int64, now: DayFigures) {
        (self.day, self.told, self.toldAt, self.now) = (day, told, toldAt, now)
    }
}

/// What is held against a day later.
package struct DayFigures: Hashable, Sendable {
    package var delivered: Int64 = 0
    package var received: Int64 = 0
    package var responded: Int64 = 0
    package var receivedResponded: Int64 = 0
    package var dismissed: Int64 = 0
    package var stories: Int64 = 0
    package var storiesCompleted: Int64 = 0
    package var woken: Int64 = 0

    package init() {}

    package var responseRate: Rate { Rate(receivedResponded, of: received) }
}
