import Foundation
import Testing

@testable import BellwetherClient

@Suite("Events for which an older server has no room")
struct HeldBackTests {
    private static let hours: TimeInterval = 3600

    @Test("are kept, unchanged, while others go on, and sent again in six hours")
    func keptForLater() async throws {
        let isFull = Guarded(true)
        let post = Post { envelope, _ in
            isFull.withLock { $0 } ? .full(Set(envelope.seqs).intersection([2, 3])) : .well
        }
        try post.record(4)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 4])
        let told = await post.heard(.heldBack)
        #expect(told.map(\.count) == [2] && told.first?.eventID == "id-2")
        #expect(await post.heard(.rejected).isEmpty)
        // Not at once, which would never end, and whoever comes next is not held up.
        try post.record(1)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 4, 5] && post.server.envelopes.count == 2)
        // Still full: they are held back once more.
        post.time.pass(6 * Self.hours)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.envelopes.count == 3 && post.server.envelopes[2].seqs == [2, 3])
        isFull.withLock { $0 = false }
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.envelopes.count == 3)
        post.time.pass(6 * Self.hours)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 4, 5, 2, 3])
        #expect(post.server.drops.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: post.scratch.url.appendingPathComponent("held-back").path))
    }

    @Test("are known to the next process, and dropped like others when they are too old")
    func age() async throws {
        let post = Post { envelope, _ in .full(Set(envelope.seqs)) }
        try post.record(1)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        let next = Post(in: post.scratch, time: post.time) { _, _ in .well }
        next.time.pass(91 * 24 * Self.hours)
        #expect(await next.courier.deliver(within: 10) == .delivered)
        #expect(next.server.stored.isEmpty && next.server.drops.count == 1)
    }

    @Test("take no more room than is theirs: the oldest are counted as dropped")
    func size() async throws {
        let post = Post { envelope, _ in .full(Set(envelope.seqs)) }
        try post.record(150, size: 10_000)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        let file = try Data(contentsOf: post.scratch.url.appendingPathComponent("held-back"))
        #expect(file.count <= HeldBack.limit && file.count > HeldBack.limit / 2)
        try post.record(1)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(!post.server.drops.isEmpty)
    }

    @Test("are held back once, however often an answer names them, and whatever else it names")
    func namedTwice() async throws {
        let results = [0, 0, 1, -1, .max].map { place in
            #"{"index":\#(place),"id":"id-1","result":"rejected","reason":"too_many_values"}"#
        }
        let body = #"{"accepted":0,"duplicate":0,"rejected":1,"results":[\#(results.joined(separator: ","))]}"#
        let post = Post { _, number in number == 0 ? .status(200, body: body) : .well }
        try post.record(1)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.scratch.bytes("held-back").split(separator: 10).count == 1)
        post.time.pass(6 * Self.hours)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1] && post.server.envelopes.count == 2)
    }

    @Test("are counted as dropped where their line is damaged, once, and the others go on")
    func damaged() async throws {
        let isFull = Guarded(true)
        let post = Post { envelope, _ in isFull.withLock { $0 } ? .full(Set(envelope.seqs)) : .well }
        func file() -> [String] {
            String(decoding: post.scratch.bytes("held-back"), as: UTF8.self).split(separator: "\n").map(String.init)
        }
        func damage(_ new: [String]) throws {
            try post.scratch.write(Array((file() + new).joined(separator: "\n").utf8), to: "held-back")
        }
        func heldLine(_ at: Int64, _ time: Int64, event: String = "{}") -> String {
            #"{"at":\#(at),"time":\#(time),"source":"{}","event":"\#(event)"}"#
        }
        try post.record(2)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        // Read when it is taken up.
        try damage([heldLine(.min, 0), heldLine(0, .min), heldLine(.max, 0), heldLine(0, 0, event: "no"), "?"])
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(file().count == 2 && post.server.drops.count == 1)
        let told = await post.heard(.dropped)
        #expect(told.map(\.count) == [5])
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.drops.count == 1)
        // Read when more is held back.
        try damage([heldLine(0, .max)])
        let (events, source) = (Array(#"{"seq":3}"#.utf8), Array("{}".utf8))
        var batch = Batch(first: 3, last: 3)
        batch.sources = [source]
        batch.events = [Batch.Event(seq: 3, age: 0, time: post.queue.now, source: 0, json: events[...])]
        try post.queue.holdBack(batch.events, of: batch)
        #expect(file().count == 3)
        isFull.withLock { $0 = false }
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.drops.count == 2)
        post.time.pass(6 * Self.hours)
        #expect(await post.courier.deliver(within: 10) == .delivered)
        #expect(post.server.stored == [1, 2, 3] && post.server.drops.count == 2)
    }
}
