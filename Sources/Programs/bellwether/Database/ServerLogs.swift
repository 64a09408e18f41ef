internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import ServiceRuntime

/// Removes old files of the embedded server's log while a service runs: the server begins new ones, and removes none.
struct ServerLogs {
    private static let secondsBetweenLooks = 10.0

    private let worker = DatabaseWorker(())
    private let access: DatabaseAccess
    private let log: Log

    init(_ access: DatabaseAccess, log: Log) { (self.access, self.log) = (access, log) }

    /// Does nothing where the server is not ours.
    func start() {
        guard let server = access.server else { return }
        worker.start(["server logs"]) { [worker, log] _ in
            var isNews = true
            while !worker.isStopping {
                do throws(EmbeddedPostgresError) {
                    try server.removeOldLogs()
                    isNews = true
                } catch {
                    if isNews { log.warning("the server's old logs were not removed", ["error": "\(error)"]) }
                    isNews = false
                }
                worker.rest(Self.secondsBetweenLooks)
            }
        }
    }

    func stop() { worker.stop() }
}
