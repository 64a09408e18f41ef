internal import Projections
internal import ServiceRuntime
internal import Telemetry
internal import Values

extension Examination {
    /// A day, and an hour or two for the run itself.
    private static let mostHours: Int64 = 26

    static let reports = Examination(name: "reports") { _, connection in
        let now = WallClock.now
        let apps = try LastReport.each(on: &connection)
        // A new app has its first night before it.
        let late = apps.filter { (now - ($0.keptAt ?? $0.appMadeAt)) / 3_600_000_000 >= mostHours }
        guard let worst = late.first else {
            return .ok(apps.isEmpty ? "there is no app yet" : "every app has its report of last night, or is new")
        }
        let last = worst.keptAt.map { "the last one was kept at \($0)" } ?? "none was ever kept"
        let more = late.count == 1 ? "" : ", and \(late.count - 1) more apps"
        return .warn(
            "no report of \(worst.app) for over \(mostHours) hours, \(last)\(more)",
            do: "run bellwether report --all-apps --output-dir DIR each night (Examples/systemd has a timer)")
    }
}
