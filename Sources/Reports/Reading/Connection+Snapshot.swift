internal import Postgres

extension Connection {
    /// Runs a body that sees the views as they are at one moment.
    mutating func inSnapshot<Result>(
        _ body: (inout Connection) throws(ReportError) -> Result
    ) throws(ReportError) -> Result {
        do {
            return try transaction(.repeatableReadOnly, failingWith: ReportError.self, body)
        } catch {
            switch error {
            case .database(let error): throw .database(error)
            case .body(let error): throw error
            }
        }
    }
}
