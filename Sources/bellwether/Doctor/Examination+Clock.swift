internal import EventLog
internal import Health
internal import ServiceRuntime

extension Examination {
    static let clock = Examination(name: "clock") { _, connection in
        guard let fault = try ClockComparison(on: &connection, clock: { WallClock.now }).fault() else {
            return .ok("this machine's clock agrees with the database's")
        }
        return .fail(
            "\(fault): a serve on this machine accepts nothing",
            do:
                "set the clock (NTP); if this clock is right and only the last commits are ahead, start serve --trust-clock once"
        )
    }
}
