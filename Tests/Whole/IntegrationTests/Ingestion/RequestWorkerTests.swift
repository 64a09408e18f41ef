import HTTPServer
import Ingestion
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The request worker")
struct RequestWorkerTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase.make() }

    /// The answers that came, in their order.
    private final class Answers: Sendable {
        private let responses = Lock([Response]())

        func add(_ response: Response) { responses.withLockNotifying { $0.append(response) } }

        func wait(for count: Int, within seconds: Double = 60) throws -> [Response] {
            try #require(responses.wait(until: .after(seconds: seconds)) { $0.count >= count ? $0 : nil })
        }

        var all: [Response] { responses.withLock { $0 } }
    }

    private func requestWorker(_ adjust: (inout RequestWorker.Configuration) -> Void = { _ in }) throws -> RequestWorker
    {
        var configuration = RequestWorker.Configuration()
        adjust(&configuration)
        let requestWorker = RequestWorker(url: try database.url(), configuration, log: .silent)
        requestWorker.start()
        #expect(eventually { requestWorker.isConnected })
        return requestWorker
    }

    /// Hands in a job that asks the database something.
    private func ask(_ requestWorker: RequestWorker, _ answers: Answers, _ query: Statement = "SELECT 1") {
        requestWorker.submit(bytes: 1) { connection throws(PostgresError) in
            try connection.query(query)
            return Self.text("done")
        } answer: {
            answers.add($0)
        }
    }

    /// Hands in a job that waits until it may end, and gives the way to let it, once it has begun.
    private func hold(_ requestWorker: RequestWorker, _ answers: Answers) -> Lock<Bool> {
        let (begun, mayEnd) = (Lock(false), Lock(false))
        requestWorker.submit(bytes: 1000) { _ in
            begun.withLockNotifying { $0 = true }
            _ = mayEnd.wait(until: .after(seconds: 60)) { $0 ? true : nil }
            return Self.text("first")
        } answer: {
            answers.add($0)
        }
        #expect(begun.wait(until: .after(seconds: 60)) { $0 ? true : nil } == true)
        return mayEnd
    }

    private static func text(_ text: String) -> Response { Response(status: 200, body: Array(text.utf8)) }

    /// Hands in a job with patience that answers 202 until something is done, and gives how often it ran.
    private func waitForOthers(
        _ requestWorker: RequestWorker, _ answers: Answers, patience: Double,
        until isDone: @escaping @Sendable () -> Bool = { false }
    ) -> Lock<Int> {
        let runs = Lock(0)
        requestWorker.submit(bytes: 1000, patience: patience) { _ in
            runs.withLockNotifying { $0 += 1 }
            return Response(status: isDone() ? 200 : 202)
        } answer: {
            answers.add($0)
        }
        return runs
    }

    @Test("runs a job again while it answers 202, and does others meanwhile")
    func again() throws {
        defer { database.drop() }
        // Its bytes are given back in the end: there is no room for three of them.
        let requestWorker = try requestWorker {
            ($0.mostQueuedBytes, $0.secondsBetweenRuns) = (4000, 0.05)
        }
        defer { requestWorker.stop() }
        for _ in 0..<5 {
            let answers = Answers()
            let runs = waitForOthers(requestWorker, answers, patience: 10) { !answers.all.isEmpty }
            ask(requestWorker, answers)
            #expect(try answers.wait(for: 2).map(\.status) == [200, 200])
            #expect(answers.all.last?.body.isEmpty == true && runs.withLock { $0 } > 1)
        }
    }

    @Test("a job that waits in vain gets its 202, and the next ones get theirs at once")
    func vain() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker { $0.secondsBetweenRuns = 0.05 }
        defer { requestWorker.stop() }
        let answers = Answers()
        let runs = waitForOthers(requestWorker, answers, patience: 2)
        #expect(try answers.wait(for: 1).map(\.status) == [202])
        #expect(runs.withLock { $0 } > 1)
        let next = waitForOthers(requestWorker, answers, patience: 10)
        #expect(try answers.wait(for: 2).map(\.status) == [202, 202])
        #expect(next.withLock { $0 } == 1)
    }

    @Test("a job that waits for others gets its 202 when the worker stops")
    func endOfPatience() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        let answers = Answers()
        let runs = waitForOthers(requestWorker, answers, patience: 10)
        #expect(runs.wait(until: .after(seconds: 60)) { $0 > 0 ? true : nil } == true)
        requestWorker.stop()
        #expect(answers.all.map(\.status) == [202])
    }

    @Test("does jobs in their order, on one connection of the ingest role")
    func order() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        defer { requestWorker.stop() }
        let answers = Answers()
        for _ in 0..<3 {
            requestWorker.submit(bytes: 1) { connection throws(PostgresError) in
                let row = try connection.query("SELECT current_user::text, pg_backend_pid()::text")[0]
                return Self.text("\(try row.get(0, as: String.self)) \(try row.get(1, as: String.self))")
            } answer: {
                answers.add($0)
            }
        }
        let bodies = try answers.wait(for: 3).map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies[0].hasPrefix("bellwether_ingest ") && Set(bodies).count == 1, "\(bodies)")
    }

    @Test("does a job on a new connection when the old one died unused")
    func lostConnection() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        defer { requestWorker.stop() }
        let answers = Answers()
        var administrator = try database.administrator()
        let killed = try administrator.query(
            """
            SELECT count(pg_terminate_backend(pid, 30000)) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'bellwether request worker'
            """)[0].get(0, as: Int64.self)
        #expect(killed == 1)
        ask(requestWorker, answers)
        #expect(try answers.wait(for: 1)[0].status == 200)
    }

    @Test("answers 503 at once while the database is away, and works again when it is back")
    func away() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        defer { requestWorker.stop() }
        let answers = Answers()
        // Nobody can close the database that he is in.
        let elsewhere = try TestDatabase.make(.empty)
        defer { elsewhere.drop() }
        var administrator = try elsewhere.administrator()
        try administrator.execute(script: "ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false")
        try administrator.query(
            """
            SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
            WHERE datname = \(database.name)
            """)
        ask(requestWorker, answers)
        let first = try answers.wait(for: 1)[0]
        #expect(first.status == 503 && first.headers.contains { $0.0 == "Retry-After" })
        #expect(!requestWorker.isConnected)
        requestWorker.submit(bytes: 1) { _ in
            Self.text("never")
        } answer: {
            answers.add($0)
        }
        #expect(answers.all.count == 2 && answers.all[1].status == 503)
        try administrator.execute(script: "ALTER DATABASE \(database.name) ALLOW_CONNECTIONS true")
        #expect(eventually { requestWorker.isConnected })
        requestWorker.submit(bytes: 1) { _ in
            Self.text("again")
        } answer: {
            answers.add($0)
        }
        #expect(try answers.wait(for: 3)[2].status == 200)
    }

    @Test("answers a job that PostgreSQL refuses with 503 and goes on with the next, in no transaction")
    func refusedJob() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        defer { requestWorker.stop() }
        let answers = Answers()
        requestWorker.submit(bytes: 1) { connection throws(PostgresError) in
            try connection.execute(script: "BEGIN")
            try connection.query("SELECT 1 / 0")
            return Self.text("never")
        } answer: {
            answers.add($0)
        }
        requestWorker.submit(bytes: 1) { connection throws(PostgresError) in
            Self.text(connection.isInTransaction ? "in a transaction" : "in none")
        } answer: {
            answers.add($0)
        }
        let both = try answers.wait(for: 2)
        #expect(both.map(\.status) == [503, 200])
        #expect(String(decoding: both[1].body, as: UTF8.self) == "in none")
    }

    @Test("a job that takes longer than it may is answered 503, and the next is done")
    func slowJob() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker { $0.secondsPerJob = 1 }
        defer { requestWorker.stop() }
        let answers = Answers()
        ask(requestWorker, answers, "SELECT pg_sleep(3600)")
        #expect(try answers.wait(for: 1)[0].status == 503)
        #expect(eventually { requestWorker.isConnected })
        requestWorker.submit(bytes: 1) { _ in
            Self.text("done")
        } answer: {
            answers.add($0)
        }
        #expect(try answers.wait(for: 2)[1].status == 200)
    }

    @Test("turns away what its queue has no room for, by number or by bytes, and takes anything when it is empty")
    func fullQueue() throws {
        defer { database.drop() }
        for isByBytes in [false, true] {
            let requestWorker = try requestWorker {
                if isByBytes { $0.mostQueuedBytes = 100 } else { $0.mostJobs = 1 }
            }
            let answers = Answers()
            let mayEnd = hold(requestWorker, answers)
            if !isByBytes {
                requestWorker.submit(bytes: 1) { _ in
                    Self.text("second")
                } answer: {
                    answers.add($0)
                }
            }
            requestWorker.submit(bytes: 1) { _ in
                Self.text("too many")
            } answer: {
                answers.add($0)
            }
            #expect(answers.all.map(\.status) == [503])
            mayEnd.withLockNotifying { $0 = true }
            #expect(try answers.wait(for: isByBytes ? 2 : 3).dropFirst().allSatisfy { $0.status == 200 })
            requestWorker.stop()
        }
    }

    @Test("an app that brings many jobs waits for itself, and leaves room for the next one")
    func apps() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker { $0.mostJobs = 8 }
        defer { requestWorker.stop() }
        let answers = Answers()
        let mayEnd = hold(requestWorker, answers)
        func submit(_ name: String, of app: Int32) {
            requestWorker.submit(of: app, bytes: 1) { _ in
                Self.text(name)
            } answer: {
                answers.add($0)
            }
        }
        for number in 0..<6 { submit("greedy \(number)", of: 1) }
        for number in 0..<2 { submit("neighbour \(number)", of: 2) }
        #expect(answers.all.map(\.status) == [503, 503])
        mayEnd.withLockNotifying { $0 = true }
        let bodies = try answers.wait(for: 9).dropFirst(3).map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["greedy 0", "neighbour 0", "greedy 1", "neighbour 1", "greedy 2", "greedy 3"])
    }

    @Test("when it is to stop it does what waits and takes nothing new")
    func stop() throws {
        defer { database.drop() }
        let requestWorker = try requestWorker()
        let answers = Answers()
        let mayEnd = hold(requestWorker, answers)
        requestWorker.submit(bytes: 1) { _ in
            Self.text("second")
        } answer: {
            answers.add($0)
        }
        let stopping = Worker(name: "stop") { requestWorker.stop() }
        // Refused from the moment when it knows.
        #expect(
            eventually {
                let late = Answers()
                requestWorker.submit(bytes: 1) { _ in
                    Self.text("late")
                } answer: {
                    late.add($0)
                }
                return late.all.first?.status == 503
            })
        mayEnd.withLockNotifying { $0 = true }
        stopping.join()
        #expect(answers.all.prefix(2).map(\.status) == [200, 200])
    }
}
