import Foundation
import Look
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// Pages of a database in which somebody holds up whoever reads a funnel.
@Suite("Pages that take long")
struct WaitingTests {
    private let database: TestDatabase
    private let look: Look
    private static let category = "/app/shop/category?category=SALE"

    init() throws {
        database = try TestDatabase.make()
        _ = try database.makeApp("shop")
        look = try LookedAt.open(database) { configuration in
            configuration.patience = 0.2
            // What ends a question here is not its own limit.
            (configuration.readers.statementSeconds, configuration.readers.secondsPerPage) = (60, 60)
            configuration.readers.sessions = 1
        }
    }

    /// While `body` runs, a page waits for the lock of a table that only category pages read.
    private func heldUp(_ body: (inout Connection) throws -> Void) throws {
        defer {
            look.stop(deadline: .after(seconds: 20))
            database.drop()
        }
        var holder = try database.connect()
        try holder.execute(script: "BEGIN; LOCK TABLE projection.category_funnel IN ACCESS EXCLUSIVE MODE")
        try body(&holder)
    }

    /// Questions of pages that wait for the lock.
    private func questions() throws -> Int64 {
        try database.value(
            """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE NOT granted AND datname = current_database()
            """)
    }

    /// Asks until the page is there, or something else than waiting.
    private func finished() throws -> RawClient.Answer {
        var answer = try HTTPClient(look).get(Self.category)
        _ = try eventually {
            if answer.status == 202 { answer = try HTTPClient(look).get(Self.category) }
            return answer.status != 202
        }
        return answer
    }

    @Test("whoever waits is told what for, and is given the page at the same address; all wait for one question")
    func told() throws {
        try heldUp { holder in
            for _ in 0..<3 {
                let answer = try HTTPClient(look).get(Self.category)
                #expect(answer.status == 202)
                #expect(answer.body.contains("PostgreSQL is reading what this page shows"))
                #expect(answer.body.contains(#"<meta http-equiv="refresh" content="1">"#))
                #expect(answer.body.contains("/cancel?page="))
            }
            #expect(try questions() == 1)
            // One session, which is taken.
            let other = try HTTPClient(look).get("/app/shop/installs")
            #expect(other.status == 202 && other.body.contains("waits for its turn: 1 other page is being read"))
            try holder.execute(script: "COMMIT")
            let page = try finished()
            #expect(page.status == 200 && page.body.contains("A category of shop"))
        }
    }

    @Test("cancelling ends the question and answers all who wait; the session after it works")
    func cancelled() throws {
        try heldUp { holder in
            let body = try HTTPClient(look).get(Self.category).body
            let link = try #require(body.firstMatch(of: /href="(\/cancel\?page=[-0-9a-f]+)"/))
            #expect(try questions() == 1)
            let stopped = try HTTPClient(look).get(String(link.1))
            #expect(stopped.status == 200 && stopped.body.contains("Cancelled"))
            #expect(stopped.body.contains("category=SALE"), "it can be read after all")
            #expect(try eventually { try questions() == 0 })
            #expect(try HTTPClient(look).get(String(link.1)).status == 404)
            #expect(try HTTPClient(look).get("/cancel?page=7").status == 404)
            try holder.execute(script: "COMMIT")
            #expect(try finished().status == 200)
        }
    }

    @Test("a page that nobody asks for any more is not read to its end")
    func abandoned() throws {
        try heldUp { holder in
            #expect(try HTTPClient(look).get(Self.category).status == 202)
            #expect(try questions() == 1)
            #expect(try eventually { try questions() == 0 })
            try holder.execute(script: "COMMIT")
            #expect(try finished().status == 200)
        }
    }

    @Test("in a browser the page comes by itself, with scripts and without", arguments: [true, false])
    func browser(_ scripts: Bool) throws {
        let browser = try Chromium()
        try heldUp { holder in
            try browser.letScripts(scripts)
            try browser.open("http://\(look.address)\(Self.category)")
            #expect(browser.waits(for: "document.title.startsWith('Still reading')"))
            try holder.execute(script: "COMMIT")
            #expect(browser.waits(for: "document.title.startsWith('SALE')"))
            #expect(browser.complaints.isEmpty, "\(browser.complaints)")
        }
    }
}
