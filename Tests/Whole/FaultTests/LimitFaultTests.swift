import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("The database gives less than it should")
struct LimitFaultTests {
    @Test("stopped for a while and started again, it finds a service that turned everybody away and goes on by itself")
    func stopped() throws {
        let server = try DatabaseServer()
        let bellwether = Bellwether(database: server.url)
        let key = String(try bellwether.trusted("app", "create", "shop").dropLast())
        let service = try bellwether.serve()
        let load = Load(on: service, key: key)
        #expect(load.isServed())
        try server.stop()
        #expect(load.isRefused())
        let told = try eventually { try service.client().get("/readyz").status == 503 }
        #expect(told)
        let end = Deadline.after(seconds: FaultLength.seconds(1))
        while !end.hasPassed { #expect(load.isRefused()) }
        try server.start()
        #expect(load.isServed())
        #expect(load.brokenConnections == 0)
        try service.waitUntilReady()
        try Laws.check(load, url: server.url)
        #expect(try service.stop() == 0)
    }

    @Test("without a free connection it turns clients away, takes no harm, and goes on when there is one again")
    func connections() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let load = shop.load(on: service)
        #expect(load.isServed())
        var administrator = try shop.database.administrator()
        try administrator.execute(script: "ALTER DATABASE \(shop.database.name) CONNECTION LIMIT 6")
        // Others take what there is, and what the service loses they take too.
        try withHogs(of: shop.database) { hog in
            let exhausted = try eventually {
                let isThereOne = hog()
                administrator.deadline = .after(seconds: 60)
                let ended = try administrator.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name LIKE 'bellwether %'
                    """
                ).count
                return !isThereOne && ended == 0
            }
            #expect(exhausted)
            #expect(load.isRefused())
            // One that starts now finds no connection either, and waits.
            let second = try shop.bellwether.serve(waitsUntilReady: false)
            defer { _ = try? second.stop() }
            let told = try eventually {
                try service.client().get("/readyz").status == 503 && second.client().get("/readyz").status == 503
            }
            #expect(told)
            #expect(try service.client().get("/healthz").status == 200)
            #expect(try shop.bellwether.run("app", "list").status == 69)
        }
        administrator.deadline = .after(seconds: 60)
        try administrator.execute(script: "ALTER DATABASE \(shop.database.name) CONNECTION LIMIT -1")
        #expect(load.isServed())
        try service.waitUntilReady()
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    @Test("timeouts of milliseconds that a login or database was given are not those of the service's own work")
    func timeouts() throws {
        let shop = try Shop()
        var administrator = try shop.database.administrator()
        // Each commit takes longer than any of them.
        try SlowCommits.begin(seconds: 0.1, .inStatement, of: shop.database)
        let settings = [
            "statement_timeout", "lock_timeout", "idle_session_timeout", "idle_in_transaction_session_timeout",
        ]
        for setting in settings {
            try administrator.execute(
                script: "ALTER ROLE \(TestPostgres.owner) IN DATABASE \(shop.database.name) SET \(setting) = '20ms'")
        }
        let service = try shop.bellwether.serve()
        let load = shop.load(on: service)
        #expect(load.isServed(60))
        #expect(load.refusals == 0)
        for command in [["project", "--once"], ["verify"], ["status"], ["rebuild", "category_funnel"], ["report"]] {
            let ended = try shop.bellwether.start(command).wait()
            #expect(ended.status == 0, "\(command) \(ended)")
        }
        administrator.deadline = .after(seconds: 60)
        for setting in settings {
            try administrator.execute(
                script: "ALTER ROLE \(TestPostgres.owner) IN DATABASE \(shop.database.name) RESET \(setting)")
        }
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    @Test("commits of hundreds of milliseconds are shared by all who wait, and memory stays bounded")
    func slowCommits() throws {
        let shop = try Shop()
        try SlowCommits.begin(seconds: 0.3, .inCommit, of: shop.database)
        let service = try shop.bellwether.serve()
        let load = shop.load(clients: 50, on: service)
        #expect(load.isServed(50))
        let memory = try #require(ProcessTable.peakMemory(of: service.process.id))
        let batches: Int64 = try shop.database.value("SELECT count(*) FROM log.batch")
        let served = load.acknowledgements
        let end = Deadline.after(seconds: FaultLength.seconds(3))
        while !end.hasPassed { #expect(load.isServed(50)) }
        let (more, commits) = (
            load.acknowledgements - served,
            try shop.database.value("SELECT count(*) FROM log.batch", as: Int64.self) - batches
        )
        // An envelope goes to two writers at most.
        #expect(more > 3 * commits, "\(more) envelopes in \(commits) commits")
        let grown = try #require(ProcessTable.peakMemory(of: service.process.id)) - memory
        #expect(grown < 50_000, "\(grown) KiB")
        FaultLength.report("slow commits: \(more) envelopes in \(commits) commits, \(grown) KiB more memory")
        try SlowCommits.end(in: shop.database)
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    @Test("a transaction that stays open elsewhere, reading and writing, holds up neither ingestion nor the funnels")
    func openTransaction() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        // Steadily, and not as much as there can be: then funnels lag behind for want of a processor.
        let load = shop.load(clients: 2, pause: 0.01, on: service)
        #expect(load.isServed())
        try shop.database.run("CREATE TABLE public.elsewhere (number integer)")
        var other = try shop.database.connect()
        try other.execute(
            script: """
                BEGIN ISOLATION LEVEL REPEATABLE READ;
                INSERT INTO public.elsewhere VALUES (1);
                SELECT count(*) FROM analytics.events;
                SELECT count(*) FROM analytics.category_funnel;
                """)
        var observer = try shop.database.administrator()
        var lags: [Double] = []
        let seconds = FaultLength.seconds(4, least: 600)
        let end = Deadline.after(seconds: seconds)
        while !end.hasPassed || lags.count < 20 {
            #expect(load.isServed(20))
            observer.deadline = .after(seconds: 60)
            let head: Int64 = try observer.query("SELECT max(number) FROM log.batch")[0].get(0)
            let follow = try eventually {
                observer.deadline = .after(seconds: 60)
                return try observer.query("SELECT min(position) FROM projection.progress")[0].get(0, as: Int64.self)
                    >= head
            }
            #expect(follow)
            lags.append(try observer.query("SELECT max(lag_seconds)::float8 FROM analytics.projections")[0].get(0))
            // What would clean up finds little to clean, and must not stand in anybody's way.
            if lags.count % 20 == 0 { try observer.execute(script: "VACUUM log.head, projection.progress") }
        }
        // From its beginning to its end: what is kept for the open transaction grows all the time.
        let course = (0..<5).map { fifth in
            let part = lags[(lags.count * fifth / 5)..<(lags.count * (fifth + 1) / 5)].sorted()
            return part[part.count / 2]
        }
        lags.sort()
        // Where other tests run beside this one it says little of the service.
        if FaultLength.isLong { #expect(course.allSatisfy { $0 < 1 }, "\(course)") }
        FaultLength.report(
            "\(load.acknowledgements) envelopes beside a transaction open for \(seconds) s: lag \(lags[lags.count / 2]) s in the middle, "
                + "\(lags[lags.count * 99 / 100]) s at the 99th percentile, \(lags[lags.count - 1]) s at most, by fifths \(course)"
        )
        other.deadline = .after(seconds: 60)
        try other.execute(script: "COMMIT")
        try Laws.check(load, url: shop.database.url())
        #expect(try service.stop() == 0)
    }

    /// Lends a way to open connections one by one, which stay open until `body` has returned.
    private func withHogs(of database: TestDatabase, _ body: (() -> Bool) throws -> Void) throws {
        let hogs = Lock<[HoggedConnection]>([])
        try body {
            guard let hog = try? HoggedConnection(url: database.url()) else { return false }
            hogs.withLock { $0.append(hog) }
            return true
        }
        hogs.withLock { $0 = [] }
    }
}

/// A connection that somebody holds and does nothing with.
private final class HoggedConnection: @unchecked Sendable {
    private let connection: Connection

    init(url: String) throws { connection = try Connection(url: url) }
}

/// Makes commits slow, where the log's head is locked.
private enum SlowCommits {
    enum Place: String {
        /// Where a timeout of statements counts.
        case inStatement = "TRIGGER dawdle BEFORE INSERT ON log.batch"
        /// Within COMMIT itself, where none does.
        case inCommit = "CONSTRAINT TRIGGER dawdle AFTER INSERT ON log.batch DEFERRABLE INITIALLY DEFERRED"
    }

    static func begin(seconds: Double, _ place: Place, of database: TestDatabase) throws {
        try database.run(
            """
            CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_sleep(\(seconds));
                RETURN new;
            END $$;
            CREATE \(place.rawValue) FOR EACH ROW EXECUTE FUNCTION public.dawdle();
            """)
    }

    static func end(in database: TestDatabase) throws { try database.run("DROP FUNCTION public.dawdle CASCADE") }
}
