internal import Console
internal import Letters
internal import Mailroom
internal import Postgres
internal import ServiceRuntime

/// Takes the reports that wait to their places. `bellwether report --deliver` starts it at the end of its run.
struct DeliverCommand: DatabaseCommand {
    static let words = ["deliver"]
    static let operands: [Operand<Self>] = [Operand("FILE", \.file)]
    static let summary = "Deliver the reports that wait (bellwether report --deliver FILE runs it)"

    var database = DatabaseChoice()
    private var file = ""

    func run() throws -> ExitCode {
        let places = try PlacesFile.read(at: file)
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log)
        defer { access.release() }
        let session = ReporterSession(access: access, log: log)
        var turn = try session.open()
        var connection = try session.open()
        // It lasts as long as the round, and ends with this process, however that ends.
        try turn.execute(
            script: """
                SET idle_in_transaction_session_timeout = '\(Int(Round.seconds) + 120)s'; SET lock_timeout = '300s';
                """)
        do throws(PostgresError) {
            let result = try turn.transaction { (turn: inout Connection) throws(PostgresError) in
                try Letters.takeRound(on: &turn)
                CrashPoint.pass("round begun")
                return try Round(places, until: .after(seconds: Round.seconds)) { line in
                    StandardStream.error.write("\(String(printable: line))\n")
                }.run(on: &connection)
            }
            return result.isComplete ? .done : .failed
        } catch {
            guard error.state == .lockNotAvailable else { throw error }
            throw Failure(
                "another run has been delivering reports for five minutes: what waits is sent by the next run")
        }
    }
}
