import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A command on the embedded database that is interrupted")
struct InterruptionTests {
    private let scratch = TemporaryDirectory()

    /// An embedded database in which `app list` waits until it is told to stop: a prepared transaction holds its lock
    /// through a restart, and uses nothing.
    private func makeBlocked() throws -> Bellwether {
        let bellwether = Bellwether(data: scratch("data"))
        _ = try bellwether.trusted("app", "create", "shop")
        try "max_prepared_transactions = 1\n".write(
            toFile: scratch("data/pg/data/custom.conf"), atomically: false, encoding: .utf8)
        chmod(scratch("data/pg/data/custom.conf"), 0o644)
        _ = try bellwether.trusted("database-url")
        var connection = try Connection(url: try #require(bellwether.superuserURL))
        try connection.execute(
            script: "BEGIN; LOCK TABLE log.app IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'held'")
        _ = try bellwether.trusted("database", "stop")
        return bellwether
    }

    private func waits(_ bellwether: Bellwether) -> Bool {
        guard let url = bellwether.superuserURL, var connection = try? Connection(url: url) else { return false }
        let waiting = try? connection.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        return waiting?.isEmpty == false
    }

    @Test("ends as the signal ends it, says nothing, and stops the database", arguments: [SIGINT, SIGTERM])
    func command(_ signal: Int32) throws {
        let bellwether = try makeBlocked()
        let list = try bellwether.start(["app", "list"])
        #expect(eventually { waits(bellwether) }, "\(list.messages)")
        let server = try #require(bellwether.postmaster)
        list.signal(signal)
        let ended = try list.wait()
        #expect(ended.status == 128 + signal && ended.output.isEmpty && ended.messages.isEmpty, "\(ended)")
        #expect(eventually { !ProcessTable.isAlive(server) })
    }

    @Test("and a demonstration says only where it is")
    func demo() throws {
        let bellwether = Bellwether(data: scratch("demo"))
        let demo = try Bellwether(database: nil).start(["demo", "--data", scratch("demo"), "--installs", "5000"])
        let isUnderway = eventually {
            guard let url = bellwether.superuserURL, var connection = try? Connection(url: url) else { return false }
            return (try? connection.query("SELECT FROM log.batch LIMIT 1").isEmpty) == false
        }
        #expect(isUnderway, "\(demo.messages)")
        demo.signal(SIGINT)
        let ended = try demo.wait()
        #expect(ended.status == 130 && ended.output.isEmpty, "\(ended)")
        #expect(
            ended.messages.split(separator: "\n") == [
                "Creating an embedded database in \(scratch("demo"))",
                "Stopped early. The data so far is in \(scratch("demo"))",
            ])
    }
}
