import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// What happens to a household, one thing at a time.
enum Mishap: String, CaseIterable, Sendable {
    case serviceKilled = "SIGKILL of a service"
    case serviceStopped = "SIGTERM of a service"
    case servicePaused = "a service stands still (SIGSTOP)"
    case backendsKilled = "SIGKILL of a backend, crash recovery"
    case backendsEnded = "backends ended"
    case statementsCancelled = "statements cancelled"
    case databaseRestarted = "PostgreSQL restarted (fast)"
    case databaseCrashed = "PostgreSQL shut down (immediate), crash recovery"
    case postmasterKilled = "SIGKILL of the postmaster"
    case databasePaused = "PostgreSQL stands still (SIGSTOP)"
    case slowClients = "30 clients that stall in the middle of a body"

    /// Lets it happen, to the services in `mortal` where it happens to a service.
    func happen(to household: Household, mortal: Range<Int>, _ numbers: inout SeededNumbers) throws {
        let number = Int.random(in: mortal, using: &numbers)
        switch self {
        case .serviceKilled:
            try household[number].kill()
            try household.restart(number)
        case .serviceStopped:
            // Whatever is in flight is answered, and clients that come find the other one.
            #expect(try household[number].stop() == 0)
            try household.restart(number)
        case .servicePaused:
            let process = household[Int.random(in: 0..<2, using: &numbers)].process
            process.signal(SIGSTOP)
            Self.wait(.random(in: 0.5...4, using: &numbers))
            process.signal(SIGCONT)
        case .backendsKilled: Self.signal(SIGKILL, one: true, of: household, &numbers)
        case .backendsEnded: Self.signal(SIGTERM, one: false, of: household, &numbers)
        case .statementsCancelled: Self.signal(SIGINT, one: false, of: household, &numbers)
        case .databaseRestarted: try Self.end(household, by: SIGINT)
        case .databaseCrashed: try Self.end(household, by: SIGQUIT)
        case .postmasterKilled: try Self.end(household, by: SIGKILL)
        case .databasePaused:
            let family = ProcessTable.family(of: try household.postmaster())
            for process in family { kill(process, SIGSTOP) }
            Self.wait(.random(in: 0.5...6, using: &numbers))
            for process in family.reversed() { kill(process, SIGCONT) }
        case .slowClients: Self.dawdle(at: household, &numbers)
        }
    }

    private static func end(_ household: Household, by signal: Int32) throws {
        let server = try household.postmaster()
        kill(server, signal)
        let isGone = eventually { !ProcessTable.isAlive(server) }
        #expect(isGone, "the server did not end by signal \(signal)")
    }

    /// Signals backends of the services.
    private static func signal(
        _ signal: Int32, one: Bool, of household: Household, _ numbers: inout SeededNumbers
    ) {
        guard let url = household.bellwether.url, var connection = try? Connection(url: url) else { return }
        connection.deadline = .after(seconds: 20)
        let rows = try? connection.query(
            """
            SELECT pid FROM pg_stat_activity
            WHERE application_name LIKE 'bellwether %' AND pid <> pg_backend_pid() ORDER BY pid
            """)
        var backends = (rows.map { rows in rows.compactMap { try? $0.get(0, as: pid_t.self) } } ?? [])
        backends.shuffle(using: &numbers)
        for backend in backends.prefix(one ? 1 : max(1, backends.count / 2)) { kill(backend, signal) }
    }

    private static func dawdle(at household: Household, _ numbers: inout SeededNumbers) {
        let body = Wire.envelope(AnyEvent.make())
        let clients = (0..<30).compactMap { number -> RawClient? in
            guard let client = try? RawClient(port: household[number % 2].port) else { return nil }
            client.send(
                "POST /v1/events HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer \(household.key)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body.prefix(40))")
            return client
        }
        let end = Deadline.after(seconds: .random(in: 1...5, using: &numbers))
        var sent = 40
        while !end.hasPassed {
            wait(0.25)
            sent += 1
            for client in clients { client.send(String(body.dropFirst(sent - 1).prefix(1))) }
        }
        for (number, client) in clients.enumerated() {
            if number % 2 == 0 { client.reset() } else { client.finishSending() }
        }
    }

    private static func wait(_ seconds: Double) { poll(nil, 0, Int32(seconds * 1000)) }
}
