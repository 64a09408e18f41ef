internal import Console
internal import Postgres
internal import Reports
internal import ServiceRuntime
internal import Values

/// How long a command still waits for funnels: for those of all its apps together.
struct Patience {
    private var seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    /// Returns when the funnels hold what the report needs, and says so when it has to wait.
    mutating func waitForFunnels(of app: ReportedApp, on day: CivilDate, connection: inout Connection) throws {
        let begun = Deadline.now
        defer { seconds -= Double(Deadline.now.nanoseconds - begun.nanoseconds) / 1e9 }
        try Readiness(for: day, of: app, on: &connection).wait(until: .after(seconds: seconds), on: &connection) {
            backlog in
            StandardStream.error.write("Waiting up to \(Int(saturating: seconds.rounded(.up))) s: \(backlog).\n")
        }
    }
}
