import Foundation
import Testing

@testable import BellwetherClient

@Suite("An envelope that is refused is halved until the culprit is alone")
struct CourierDivisionTests {
    @Test(
        "the culprit is set aside, everything else is stored, in few requests",
        arguments: [400, 413, 415], [1, 2, 500, 999, 1000])
    func culprit(status: Int, culprit: Int) async throws {
        let post = Post { envelope, _ in envelope.seqs.contains(culprit) ? .status(status) : .well }
        try post.record(1000)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == Array(1...1000).filter { $0 != culprit })
        #expect(SetAside(directory: post.queue.directory).count == 1)
        #expect(await post.heard(.setAside).map(\.eventID) == ["id-\(culprit)"])
        #expect(post.time.waits == [])
        #expect(post.server.envelopes.count <= 45, "\(post.server.envelopes.count)")
    }

    @Test("an event that was refused while the server took nothing is not blamed when it is taken after all")
    func onceMore() async throws {
        let post = Post { _, number in number == 0 ? .status(400) : .well }
        try post.record(1)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == [1])
        #expect(SetAside(directory: post.queue.directory).count == 0)
    }

    @Test("who opts out or has everything deleted while a culprit is looked for is not sent again, nor set aside")
    func optedOut() async throws {
        let scratch = QueueDirectory(inMemory: true)
        for isDeleted in [false, true] {
            let other = Queue(directory: scratch.url)
            let post = Post(in: scratch) { _, number in
                // The empty envelope, which comes before the event is blamed.
                guard number == 1 else { return .status(400) }
                if isDeleted { _ = try other.deleteEverything(and: []) } else { try other.optOut(dropping: true) }
                return .well
            }
            try post.record(1)
            #expect(await post.courier.deliver(within: 1000) == .delivered)
            #expect(post.server.envelopes.count == 2)
            #expect(SetAside(directory: post.queue.directory).count == 0)
            #expect(await post.heard(.setAside).isEmpty)
            try other.optIn()
        }
    }

    @Test("who opts out before a culprit is set aside leaves no trace of it")
    func optedOutLate() async throws {
        let post = Post { _, _ in .well }
        try post.record(1)
        let batch = try #require(try post.queue.next(events: 1, bytes: 1000))
        try Queue(directory: post.scratch.url).optOut(dropping: true)
        #expect(try post.queue.setAside(batch, status: 400) == nil)
        #expect(SetAside(directory: post.queue.directory).count == 0)
    }

    @Test("a culprit that cannot be set aside is counted as dropped, and nobody says that it lies there")
    func notKept() async throws {
        let post = Post { envelope, _ in envelope.seqs.contains(1) ? .status(400) : .well }
        try post.record(2)
        try post.scratch.loop("set-aside")
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == [2] && post.server.drops.count == 1)
        #expect(await post.heard(.setAside).isEmpty)
        #expect(await post.heard(.dropped).isEmpty == false || post.diagnostics.count(of: .dropped) == 1)
    }

    @Test("several culprits are each found")
    func several() async throws {
        let culprits: Set = [1, 7, 8, 60, 100]
        let post = Post { envelope, _ in culprits.isDisjoint(with: envelope.seqs) ? .well : .status(400) }
        try post.record(100)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(Set(post.server.stored) == Set(1...100).subtracting(culprits))
        #expect(SetAside(directory: post.queue.directory).count == 5)
    }

    @Test("a server that takes only small envelopes gets small ones, and nothing is set aside")
    func small() async throws {
        let post = Post { envelope, _ in envelope.raw > 10_000 ? .status(413) : .well }
        try post.record(2000, size: 100)
        #expect(await post.courier.deliver(within: 1000) == .delivered)
        #expect(post.server.stored == Array(1...2000))
        #expect(SetAside(directory: post.queue.directory).count == 0)
        let refused = post.server.envelopes.filter { $0.raw > 10_000 }.count
        #expect(refused < post.server.envelopes.count / 2, "it learns: \(refused) of \(post.server.envelopes.count)")
    }

    @Test("a server that refuses even an empty envelope blames no event", arguments: [400, 413, 415])
    func refusesAll(status: Int) async throws {
        let post = Post { _, number in number < 20 ? .status(status) : .well }
        try post.record(4)
        #expect(await post.courier.deliver(within: 10_000) == .delivered)
        #expect(post.server.stored == [1, 2, 3, 4])
        #expect(SetAside(directory: post.queue.directory).count == 0)
        #expect(!post.time.waits.isEmpty)
    }

    @Test("drops that are refused keep no event from being stored, and blame none")
    func dropsRefused() async throws {
        let limits = Queue.Limits(bytes: 20_000, segment: 2_000)
        let post = Post(limits: limits) { envelope, _ in envelope.drops.isEmpty ? .well : .status(400) }
        try post.record(300, size: 100)
        #expect(await post.courier.deliver(within: 100) == .delivered)
        #expect(post.server.stored.last == 300)
        #expect(SetAside(directory: post.queue.directory).count == 0)
    }

    @Test("a key refused while a culprit is sought pauses, and the search ends well later")
    func keyRefused() async throws {
        let post = Post { envelope, number in
            if envelope.seqs.isEmpty { return .keyRefused() }
            return envelope.seqs.contains(2) ? .status(400) : .well
        }
        try post.record(3)
        #expect(await post.courier.deliver(within: 100) == .keyRefused)
        let anew = Post(in: post.scratch) { envelope, _ in envelope.seqs.contains(2) ? .status(400) : .well }
        #expect(await anew.courier.deliver(within: 100) == .delivered)
        #expect(post.server.stored + anew.server.stored == [1, 3])
    }
}
