import BellwetherVersion
import Foundation
import Testing

@testable import BellwetherClient

@Suite("The courier delivers")
struct CourierTests {
    @Test("everything, in order, packed, with the key, the time of sending and the source, and then nothing is left")
    func delivers() async throws {
        let post = Post { _, _ in .well }
        try post.record(3)
        post.time.setClock(by: 60)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        let envelope = try #require(post.server.envelopes.first)
        #expect(post.server.envelopes.count == 1)
        #expect(envelope.url == "https://b.example/base/v1/events")
        #expect(envelope.headers["Authorization"] == "Bearer wk_1")
        #expect(envelope.headers["Content-Type"] == "application/json")
        #expect(envelope.headers["Content-Encoding"] == "gzip")
        #expect(envelope.headers["User-Agent"] == "bellwether-swift/\(BellwetherVersion.number)")
        #expect(envelope.sentAt == "2027-01-15T08:01:00.000Z")
        #expect(envelope.source == "i")
        #expect(envelope.seqs == [1, 2, 3])
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.envelopes.count == 1, "nothing left, nothing sent")
    }

    @Test("no envelope has over 1,000 events or 512 KiB, whatever its events' sources")
    func limits() async throws {
        let post = Post { _, _ in .well }
        try post.record(2_300)
        try post.record(60, install: "j", size: 20_000)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == Array(1...2360))
        let envelopes = post.server.envelopes
        #expect(envelopes.prefix(2).allSatisfy { $0.seqs.count == 1000 && $0.source == "i" })
        #expect(envelopes.allSatisfy { $0.raw <= 512 << 10 })
        #expect(envelopes[2].source == nil && envelopes[2].seqs.count > 300, "two installs: each event says its own")
        #expect(envelopes.dropFirst(3).allSatisfy { $0.source == "j" })
        #expect(envelopes.count == 5)
    }

    @Test("an event that the server rejects is dropped and told, the others are stored")
    func rejected() async throws {
        let post = Post { _, _ in .rejecting([2]) }
        try post.record(3)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 3])
        #expect(post.server.envelopes.count == 1)
        let told = await post.heard(.rejected)
        #expect(told.map(\.eventID) == ["id-2"])
        #expect(told.first?.message.contains("invalid_time: at") == true)
    }

    @Test(
        "what may pass is tried again, unchanged, and loses nothing",
        arguments: [500, 502, 503, 504, 429, 408, 404, 405, 409, 418, 301, 302, 204, 201, 0])
    func later(status: Int) async throws {
        let post = Post { _, number in
            if number >= 4 { return .well }
            return status == 0 ? .unreachable : .status(status, body: "<html>")
        }
        try post.record(3)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == [1, 2, 3])
        #expect(post.time.waits == [2, 4, 8, 16], "the jitter's upper bounds")
        #expect(post.server.envelopes.allSatisfy { $0.seqs == [1, 2, 3] })
        #expect(Set(post.server.envelopes.map(\.sentAt)).count == 5, "each try has its own time of sending")
        let events = post.server.envelopes.map { $0.text.components(separatedBy: #""source""#)[1] }
        #expect(Set(events).count == 1, "and is the same otherwise")
        #expect(await post.heard(.deliveryFailed).count == 4)
        try post.record(1)
        #expect(try post.queue.pace == Pace(), "all is well again")
    }

    @Test(
        "a 200 that does not speak of every event settles nothing",
        arguments: [
            "", "<html>Welcome to our hotel</html>", "{}", "[]", #"{"accepted":3}"#,
            #"{"accepted":2,"duplicate":0,"rejected":0,"results":[]}"#,
            #"{"accepted":4,"duplicate":0,"rejected":-1,"results":[]}"#,
            #"{"accepted":"3","duplicate":0,"rejected":0}"#,
        ])
    func unreadable(body: String) async throws {
        let post = Post { _, number in number == 0 ? .status(200, body: body) : .well }
        try post.record(3)
        #expect(await post.courier.deliver(within: 1) == .waiting(until: post.time.clock.wall() + 2))
        #expect(post.server.stored == [])
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 2, 3])
    }

    @Test("an answer that is lost after storing is followed by the same events again")
    func lost() async throws {
        let post = Post { _, number in number < 2 ? .lost : .well }
        try post.record(3)
        #expect(await post.courier.deliver(within: 100) == .delivered)
        #expect(post.server.envelopes.map(\.seqs) == [[1, 2, 3], [1, 2, 3], [1, 2, 3]])
        #expect(post.server.stored == [1, 2, 3])
    }

    @Test("an unknown key pauses this process, and a new one tries again", arguments: [401, 403])
    func pauses(status: Int) async throws {
        let post = Post { _, number in number == 0 ? .keyRefused(status) : .well }
        try post.record(3)
        for _ in 0..<5 { #expect(await post.courier.deliver(within: 1000) == .keyRefused) }
        #expect(post.server.envelopes.count == 1)
        #expect(await post.heard(.keyRefused).count == 1)
        let anew = Post(in: post.scratch) { _, _ in .well }
        #expect(await anew.courier.deliver(within: 10) == .delivered)
        #expect(anew.server.stored == [1, 2, 3])
    }

    @Test("an unknown key is tried again after six hours")
    func pauseEnds() async throws {
        let post = Post { _, number in number == 0 ? .keyRefused() : .well }
        try post.record(3)
        #expect(await post.courier.deliver(within: 10) == .keyRefused)
        post.time.pass(Courier.pauseOfKey - 1)
        #expect(await post.courier.deliver(within: 10) == .keyRefused)
        post.time.pass(1)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 2, 3])
    }

    @Test("who refuses on behalf of a network says nothing of the key: it is tried again soon", arguments: [401, 403])
    func captivePortal(status: Int) async throws {
        let page = ["content-type": "text/html"]
        let foreign = ["content-type": "application/problem+json"]
        let post = Post { _, number in
            switch number {
            case 0: .status(status, headers: page, body: #"{"code":"unknown_key"}"#)
            case 1: .status(status, headers: foreign, body: #"{"title":"Forbidden"}"#)
            default: .well
            }
        }
        try post.record(3)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == [1, 2, 3])
        #expect(await post.heard(.keyRefused).isEmpty)
    }

    @Test("what was dropped is told once, with one id until an answer comes")
    func drops() async throws {
        let limits = Queue.Limits(bytes: 20_000, segment: 2_000)
        let post = Post(limits: limits) { _, number in number < 3 ? .lost : .well }
        try post.record(300, size: 100)
        #expect(await post.courier.deliver(within: 100) == .delivered)
        #expect(Set(post.server.drops).count == 1)
        #expect(post.server.drops.count == 4, "each was stored by its id")
        try post.record(1)
        #expect(await post.courier.deliver(within: 100) == .delivered)
        #expect(post.server.drops.count == 4, "acknowledged, not told again")
    }

    @Test("drops go alone when no event waits")
    func dropsAlone() async throws {
        let time = QuickTime()
        let post = Post(time: time, limits: Queue.Limits(age: 1000)) { _, _ in .well }
        let install = try Identity(post.queue).installID
        try post.record(3)
        time.pass(2)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.envelopes.map(\.seqs) == [[]])
        #expect(post.server.envelopes.map(\.source) == [install.uuidString.lowercased()], "it says whose they were")
        #expect(post.server.drops.count == 1)
        #expect(try post.queue.drain().drops == [:])
    }
}
