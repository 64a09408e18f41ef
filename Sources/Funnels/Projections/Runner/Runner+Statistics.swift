internal import Accounts
internal import Postgres
internal import ServiceRuntime

extension Runner {
    /// Sees to the statistics that PostgreSQL does not make by itself, of tables that consist of partitions.
    func analyzeWhole() throws {
        var connection = try LogSession.open(
            url: configuration.url, role: .projector, purpose: "statistics", log: log, statementSeconds: 120)
        connection.deadline = .after(seconds: 600)
        try cancellation.during(&connection) { connection in
            var analyzed: Set<String> = []
            while !isStopping,
                let table: String = try connection.query("SELECT log.analyze_whole()").valueIfAny(),
                analyzed.insert(table).inserted
            {}
        }
    }
}
