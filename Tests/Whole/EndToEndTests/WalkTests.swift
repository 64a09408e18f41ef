import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("The embedded database, from the first command to the last")
struct WalkTests {
    private let scratch = TemporaryDirectory()
    private var bellwether: Bellwether { Bellwether(data: scratch("data")) }

    /// Whether the server of the data directory is gone, the one with this process id at least.
    private func isStopped(_ postmaster: pid_t) -> Bool { eventually { !ProcessTable.isAlive(postmaster) } }

    @Test("the README's walk: an app, a service, an event, its repeat, and a look at it as the analyst")
    func walk() throws {
        let created = try bellwether.run("app", "create", "shop", "--time-zone", "Asia/Bangkok")
        #expect(created.status == 0)
        let key = String(created.output.dropLast())
        #expect(created.output == key + "\n" && key.count > 40 && key.allSatisfy { !$0.isWhitespace })
        #expect(!created.messages.contains(key))

        let service = try bellwether.serve()
        let server = try #require(bellwether.postmaster)
        let body = """
            { "source": { "install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", "platform": "ios", "app_version": "4.2.0" },
              "events": [ { "id": "0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d", "type": "notification.opened",
                "at": "2026-11-20T09:30:10.001Z", "launch": "cold",
                "notification": { "fcm_message_id": "0:1732181410001%31bd1c96", "category": "INFO_CATEGORY" } } ] }
            """
        let curl = [
            "curl", "-s", "http://127.0.0.1:\(service.port)/v1/events", "-H", "Authorization: Bearer \(key)", "-H",
            "Content-Type: application/json", "-d", body,
        ]
        let first = try ChildProcess.run(curl).output
        #expect(first == #"{"accepted":1,"duplicate":0,"rejected":0,"results":[]}"# + "\n")
        let second = try ChildProcess.run(curl).output
        #expect(second.hasPrefix(#"{"accepted":0,"duplicate":1,"rejected":0,"results":[{"index":0,"#))

        // Commands use the server of the running service, and leave it alone.
        let query = "SELECT app, type, occurred_at, category, notification_key, launch FROM opens"
        let row = "shop|notification.opened|2026-11-20 09:30:10.001+00|INFO_CATEGORY|1732181410001|cold\n"
        #expect(try bellwether.trusted("psql", "--", "-XAt", "-c", query) == row)
        let funnel = """
            SELECT day, category, delivered, received, opened, responded, receipt_coverage FROM category_funnel
            """
        let counted = "2026-11-20|INFO_CATEGORY|1|0|1|1|0.0000\n"
        let isCounted = try eventually { try bellwether.trusted("psql", "--", "-XAt", "-c", funnel) == counted }
        #expect(isCounted)
        #expect(try bellwether.trusted("status").contains("events stored   1\n"))
        #expect(try bellwether.trusted("app", "list").contains("Asia/Bangkok"))
        #expect(bellwether.postmaster == server)
        #expect(try service.client().get("/readyz").status == 200)

        #expect(try service.stop() == 0)
        #expect(isStopped(server))
        // Alone, a command starts the database for as long as it needs it.
        #expect(try bellwether.trusted("psql", "--", "-XAt", "-c", query) == row)
        #expect(bellwether.postmaster == nil)
    }

    @Test("database-url leaves the database running for other programs, and database stop ends it")
    func keepRunning() throws {
        let url = try bellwether.trusted("database-url").trimmingCharacters(in: .newlines)
        let server = try #require(bellwether.postmaster)
        #expect(ProcessTable.isAlive(server))
        let psql = try ChildProcess.run(["psql", "-XAtc", "SELECT current_user, current_setting('TimeZone')", url])
        #expect(psql.output == "bellwether_owner|UTC\n")
        let analyst = try bellwether.trusted("database-url", "--role", "analyst").trimmingCharacters(in: .newlines)
        let views = try ChildProcess.run(["psql", "-XAtc", "SELECT count(*) FROM events", analyst])
        #expect(views.output == "0\n")
        let log = try ChildProcess.run(["psql", "-XAtc", "SELECT count(*) FROM log.event", analyst])
        #expect(log.status == 1 && log.messages.contains("permission denied"))
        let service = try bellwether.serve()
        let refused = try bellwether.run("database", "stop")
        #expect(refused.status == 1 && refused.messages.contains("--force"))
        #expect(try service.stop() == 0)
        #expect(ProcessTable.isAlive(server))
        let stopped = try bellwether.run("database", "stop")
        #expect(stopped.status == 0 && stopped.messages == "The database is stopped.\n")
        #expect(isStopped(server))
        let again = try bellwether.run("database", "stop")
        #expect(again.status == 0 && again.messages == "The database was not running.\n")
    }

    @Test("a database orphaned by a SIGKILL of the service is adopted by the next command, which stops it")
    func orphan() throws {
        let service = try bellwether.serve()
        let server = try #require(bellwether.postmaster)
        try service.kill()
        #expect(ProcessTable.isAlive(server))
        #expect(try bellwether.trusted("psql", "--", "-XAt", "-c", "SELECT count(*) FROM events") == "0\n")
        #expect(isStopped(server))
    }
}
