import Foundation
import ServiceRuntime
import TestSupport
import Testing

@Suite("The log is flooded, or nobody reads it")
struct LogFaultTests {
    /// What makes the service warn: a report of dropped events that cannot be read.
    private static let warned = #"{"events":[],"dropped":[1]}"#

    @Test("thousands of requests that are worth a warning each write a few lines, and how many were left out")
    func flood() throws {
        let shop = try Shop()
        let service = try shop.bellwether.serve()
        let client = service.client()
        let before = service.log.utf8.count
        for _ in 0..<2000 { #expect(try client.post(Self.warned, key: shop.app.secret).status == 200) }
        let metrics = try client.get("/metrics").body
        #expect(metrics.contains("bellwether_invalid_client_drops_total 2000"))
        let leftOut = #/bellwether_log_lines_left_out_total\{reason="repeated"\} (\d+)/#
        let count = try #require(metrics.firstMatch(of: leftOut).flatMap { Int($0.1) })
        #expect(count > 1000)
        #expect(try service.stop() == 0)
        let written = service.log.utf8.count - before
        #expect(written < 64 << 10, "\(written) bytes")
        #expect(service.log.contains(#""left out":""#))
    }

    @Test("standard error is a pipe that nobody reads: requests are answered, and SIGTERM ends the service")
    func unread() throws {
        let shop = try Shop()
        let directory = TemporaryDirectory()
        try #require(mkfifo(directory("log"), 0o600) == 0)
        // Somebody holds its other end, and sleeps.
        let reader = open(directory("log"), O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        var bellwether = shop.bellwether
        bellwether.runner = ["sh", "-c", #"exec 2>"$0"; exec "$@""#, directory("log")]
        let socket = directory("door")
        let process = try bellwether.start(["serve", "--log-level", "debug", "--listen", socket])
        #expect(eventually { (try? HTTPClient(path: socket).get("/readyz").status) == 200 })
        let ended = Deadline.after(seconds: 60)
        var answered = 0
        while answered < 3000, !ended.hasPassed {
            let client = HTTPClient(path: socket)
            for _ in 0..<20 where try client.post(Self.warned, key: shop.app.secret).status == 200 { answered += 1 }
        }
        #expect(answered >= 3000)
        // It is full: nothing of it was read.
        let filler = open(directory("log"), O_WRONLY | O_NONBLOCK)
        defer { close(filler) }
        let page = [UInt8](repeating: 10, count: 4096)
        while write(filler, page, page.count) > 0 {}
        for _ in 0..<100 {
            #expect(try HTTPClient(path: socket).post(Self.warned, key: shop.app.secret).status == 200)
        }
        process.signal(SIGTERM)
        #expect(try process.wait(within: 30).status == 0)
    }
}
