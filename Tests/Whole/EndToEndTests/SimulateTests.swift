import Accounts
import Foundation
import TestSupport
import Testing

@Suite("simulate")
struct SimulateTests {
    private let shared: SharedService
    private let app: TestApp

    init() throws {
        shared = try SharedService.get()
        app = try shared.makeApp()
    }

    /// The numbers of the line of sums, in its order.
    private func sums(_ output: String) throws -> [Int] {
        let line = try #require(
            output.wholeMatch(
                of:
                    /sent (\d+) events in (\d+) envelopes: accepted (\d+), duplicate (\d+), rejected (\d+); retried (\d+) requests\n/
            ))
        return [line.1, line.2, line.3, line.4, line.5, line.6].compactMap { Int($0) }
    }

    private var url: String { "http://127.0.0.1:\(shared.service.port)" }

    @Test("posts at its rate, and what it says was accepted is what analysts see")
    func traffic() throws {
        let ended = try Bellwether(database: nil).run(
            "simulate", "--url", url, "--write-key", app.secret, "--rate", "200", "--seconds", "3", "--seed", "4")
        #expect(ended.status == 0, "\(ended.messages)")
        #expect(ended.messages.isEmpty)
        let sums = try sums(ended.output)
        // A busy machine may take it some of its time, and never gives it more.
        #expect((60...900).contains(sums[0]), "\(sums)")
        #expect(sums[2] + sums[3] + sums[4] == sums[0])
        let seen = try shared.database.analystRows(
            "SELECT sum(accepted), sum(duplicate), sum(rejected) FROM data_quality WHERE app = '\(app.slug)'")
        #expect(seen == ["(\(sums[2]),\(sums[3]),\(sums[4]))"])
        // It is of the present.
        let old = try shared.database.analystRows(
            "SELECT count(*) FROM events WHERE app = '\(app.slug)' AND received_at - occurred_at > interval '5 minutes'"
        )
        #expect(old == ["(0)"])
    }

    @Test("with a server key it registers the app's categories and tells of its sends, and without one neither")
    func senders() throws {
        let bellwether = try shared.bellwether
        let key = try bellwether.trusted("app", "key", "add", app.slug, "--server").trimmingCharacters(
            in: .whitespacesAndNewlines)
        let words = ["simulate", "--url", url, "--write-key", app.secret, "--rate", "100", "--seconds", "2"]
        func told() throws -> [String] {
            try shared.database.analystRows(
                """
                SELECT (SELECT count(*) FROM categories WHERE app = '\(app.slug)'),
                    (SELECT count(DISTINCT campaign) > 3 AND bool_and(sent > 0) FROM sends WHERE app = '\(app.slug)'),
                    (SELECT count(*) FROM story_pages WHERE app = '\(app.slug)' AND fault = 'no_image') > 0
                """)
        }
        #expect(try Bellwether(database: nil).start(words).wait().status == 0)
        #expect(try told() == ["(0,f,f)"])
        let ended = try Bellwether(database: nil).start(words + ["--server-key", key, "--seed", "4"]).wait()
        #expect(ended.status == 0, "\(ended.messages)")
        #expect(try told() == ["(5,t,t)"])
        let refused = try Bellwether(database: nil).start(words + ["--server-key", app.secret]).wait()
        #expect(refused.status == 1)
        #expect(refused.messages.contains("does not accept the server key (403)"))
    }

    @Test("takes its key from the environment or from standard input")
    func secret() throws {
        var words = ["simulate", "--url", url, "--seconds", "1", "--rate", "20", "--write-key", "-"]
        let piped = try Bellwether(database: nil).start(words, input: app.secret + "\n").wait()
        #expect(piped.status == 0, "\(piped.messages)")
        words.removeLast(2)
        let inherited = try ChildProcess.run(
            [Bellwether.path] + words, environment: ["BELLWETHER_WRITE_KEY": app.secret])
        #expect(inherited.status == 0, "\(inherited.messages)")
    }

    @Test("ends with the sums when somebody presses Ctrl-C")
    func interrupted() throws {
        let process = try Bellwether(database: nil).start(
            ["simulate", "--url", url, "--write-key", app.secret, "--rate", "100"])
        let isSeen = try eventually {
            try shared.database.analystRows("SELECT count(*) > 20 FROM events WHERE app = '\(app.slug)'") == ["(t)"]
        }
        #expect(isSeen)
        process.signal(SIGINT)
        let ended = try process.wait()
        #expect(ended.status == 0, "\(ended.messages)")
        #expect(try sums(ended.output)[0] > 20)
    }

    @Test("says so when nobody is there, when the key is not known, and when it was closed")
    func refusals() throws {
        let bellwether = try shared.bellwether
        let nobody = try bellwether.run("simulate", "--url", "http://127.0.0.1:1", "--write-key", app.secret)
        #expect(nobody.status == 1)
        #expect(nobody.messages.contains("is the server running at http://127.0.0.1:1"))
        let unknown = try bellwether.run("simulate", "--url", url, "--write-key", "bw_w_unknown")
        #expect(unknown.status == 1)
        #expect(unknown.messages.contains("does not accept the write key (401)"))
        let process = try bellwether.start(["simulate", "--url", url, "--write-key", app.secret, "--rate", "100"])
        let isSeen = try eventually {
            try shared.database.analystRows("SELECT count(*) > 5 FROM events WHERE app = '\(app.slug)'") == ["(t)"]
        }
        #expect(isSeen)
        _ = try bellwether.trusted("app", "key", "revoke", app.slug, app.key.name)
        let closed = try process.wait(within: 60)
        #expect(closed.status == 1)
        #expect(closed.messages.contains("does not accept the write key (403)"))
        #expect(!closed.messages.contains(app.secret) && !closed.output.contains(app.secret))
        #expect(closed.output.hasPrefix("sent "))
    }

    @Test("says so when it is the app's rate limit that was in the way")
    func limited() throws {
        _ = try shared.bellwether.trusted("app", "set", app.slug, "--rate-limit", "0.01", "--rate-burst", "1")
        let ended = try Bellwether(database: nil).run(
            "simulate", "--url", url, "--write-key", app.secret, "--rate", "100", "--seconds", "1")
        #expect(ended.status == 1)
        #expect(
            ended.messages
                == "bellwether: the server did not accept everything: it limits the rate of the app (429)\n")
    }

    @Test("asks for what it needs")
    func usage() throws {
        let bellwether = Bellwether(database: nil)
        #expect(try bellwether.run("simulate", "--write-key", "k").status == 64)
        #expect(try bellwether.run("simulate", "--url", url).status == 64)
        #expect(try bellwether.run("simulate", "--url", url, "--write-key", "k", "--rate", "0").status == 64)
    }
}
