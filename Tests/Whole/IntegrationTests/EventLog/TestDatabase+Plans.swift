import Postgres
import TestSupport

@testable import EventLog

extension TestDatabase {
    /// An appender whose server tells the plan of every statement, of those inside functions, too, in these lines.
    func explainedAppender() throws -> (Appender, LogLines) {
        var administrator = try administrator()
        for setting in [
            "session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
            "auto_explain.log_level = 'notice'", "auto_explain.log_analyze = on", "auto_explain.log_timing = off",
            "auto_explain.log_nested_statements = on",
        ] {
            try administrator.execute(script: "ALTER DATABASE \(name) SET \(setting)")
        }
        let lines = LogLines()
        let appender = Appender(
            Appender.Configuration(url: try url(), node: "test"), allowance: RejectedAllowance(), log: lines.log)
        return (appender, lines)
    }
}
