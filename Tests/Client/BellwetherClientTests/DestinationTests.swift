import Foundation
import Testing

@testable import BellwetherClient

@Suite("To whom the library sends")
struct DestinationTests {
    @Test(
        "https, and http to this device alone",
        arguments: [
            ("https://b.example", true), ("HTTPS://b.example/base", true), ("http://127.0.0.1:8080", true),
            ("http://127.9.9.9", true), ("http://localhost:8080", true), ("http://LOCALHOST.", true),
            ("http://a.localhost", true), ("http://[::1]:8080", true), ("http://b.example", false),
            ("HTTP://b.example", false), ("http://192.168.1.7:8080", false), ("http://127.0.0.1.example", false),
            ("http://127.example", false), ("http://localhost.example", false), ("http://[::2]", false),
            ("http://0.0.0.0", false), ("ftp://127.0.0.1", false), ("b.example", false), ("file:///etc", false),
        ])
    func safe(_ address: String, _ isSafe: Bool) throws {
        let destination = Courier.Destination(server: try #require(URL(string: address)), key: "wk_1")
        #expect(destination.isSafe == isSafe)
        #expect((destination.concern == nil) == isSafe)
    }

    @Test("what is recorded for another address is kept, and not one request is made")
    func kept() async throws {
        let post = Post(server: "http://b.example") { _, _ in .well }
        try post.record(2)
        #expect(await post.courier.deliver(within: 10) == .insecureServer)
        #expect(post.server.envelopes.isEmpty)
        let next = Post(in: post.scratch, time: post.time) { _, _ in .well }
        #expect(await next.courier.deliver(within: 10) == .delivered)
        #expect(next.server.stored == [1, 2])
    }

    @Test("the developer is told so at once")
    func told() async throws {
        let scratch = QueueDirectory()
        var configuration = Bellwether.Configuration(
            server: URL(string: "http://b.example")!, writeKey: "wk_1", directory: scratch.url)
        configuration.deliversByItself = false
        let bellwether = Bellwether(configuration)
        var diagnostics = bellwether.diagnostics.makeAsyncIterator()
        let first = await diagnostics.next()
        #expect(first?.kind == .insecureServer && first?.message.contains("http://b.example") == true)
        #expect(
            await bellwether.flush(within: 1) == .insecureServer
                || !FileManager.default.fileExists(atPath: scratch.url.path))
    }
}
