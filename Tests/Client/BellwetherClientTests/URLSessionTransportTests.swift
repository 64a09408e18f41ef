import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("The network in life")
struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func posting(to proxy: HostileProxy, timeout: TimeInterval = 300) -> Posting {
        Posting(
            url: URL(string: "http://127.0.0.1:\(proxy.port)/v1/events")!, headers: ["Authorization": "Bearer wk_1"],
            body: Array("{}".utf8), timeout: timeout)
    }

    @Test("an answer comes with status, headers by their names in lower case, and body")
    func answers() async throws {
        let proxy = try HostileProxy(before: 1) { _, _ in .answer(status: 503, head: "Retry-After: 7") }
        defer { proxy.stop() }
        let answer = try await transport.send(posting(to: proxy))
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] == "7")
        #expect(answer.body == Array("no".utf8))
    }

    @Test("a redirect is an answer, and the key goes nowhere else", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let proxy = try HostileProxy(before: 1) { _, _ in .answer(status: status, head: "Location: /elsewhere") }
        defer { proxy.stop() }
        #expect(try await transport.send(posting(to: proxy)).status == status)
        #expect(proxy.requests == 1)
    }

    @Test("a server that knows no such key answers, and one that wants a password keeps nobody waiting")
    func keys() async throws {
        let bearer = try HostileProxy(before: 1) { _, _ in .answer(status: 401, head: "WWW-Authenticate: Bearer") }
        defer { bearer.stop() }
        #expect(try await transport.send(posting(to: bearer)).status == 401)
        let basic = try HostileProxy(before: 1) { _, _ in
            .answer(status: 401, head: "WWW-Authenticate: Basic realm=\"x\"")
        }
        defer { basic.stop() }
        let answer = try? await transport.send(posting(to: basic))
        #expect(answer == nil || answer?.status == 401)
        #expect(basic.requests == 1)
    }

    @Test("a server that does not answer costs the time that it is given, and no more")
    func slow() async throws {
        let proxy = try HostileProxy(before: 1) { _, _ in .delay(seconds: 600) }
        defer { proxy.stop() }
        // Ten minutes before it would.
        await #expect(throws: TransportFailure.self) { try await transport.send(posting(to: proxy, timeout: 0.3)) }
        #expect(proxy.requests == 1)
    }

    @Test("a request whose task is cancelled ends at once, before it began and under way")
    func cancelled() async throws {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let proxy = try HostileProxy(before: 1) { _, _ in
            arrived.continuation.yield()
            return .delay(seconds: 600)
        }
        defer { proxy.stop() }
        let posting = posting(to: proxy, timeout: 600)
        let underWay = Task { [transport] in try await transport.send(posting) }
        for await _ in arrived.stream { break }
        underWay.cancel()
        await #expect(throws: CancellationError.self) { try await underWay.value }
        let early = Task { [transport] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await transport.send(posting)
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test("a connection that is reset, or refused, is no answer")
    func broken() async throws {
        let proxy = try HostileProxy(before: 1) { _, _ in .reset }
        await #expect(throws: TransportFailure.self) { try await transport.send(posting(to: proxy)) }
        proxy.stop()
        await #expect(throws: TransportFailure.self) { try await transport.send(posting(to: proxy)) }
    }
}
