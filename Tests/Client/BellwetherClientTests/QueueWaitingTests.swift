import Foundation
import ServiceRuntime
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("Events wait in memory while the queue is held")
struct QueueWaitingTests {
    private let scratch = QueueDirectory(inMemory: true)

    @Test("a thread of the same process that holds the queue holds up no door")
    func thread() throws {
        let queue = Queue(directory: scratch.url, patience: 0.01)
        let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Worker(name: "holder") {
            queue.remember { _ in
                isHeld.signal()
                mayEnd.wait()
            }
        }
        isHeld.wait()
        #expect(try queue.append(Entry("{}") { "{\"seq\":\($0)}" }) == nil)
        #expect(throws: QueueError.tooLarge(bytes: 200_002)) {
            // Only the disk can say so, and then it is too late to tell anybody but the developer.
            mayEnd.signal()
            holder.join()
            try queue.append("{}") { _ in String(repeating: "x", count: 200_000) }
        }
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1] && drops == [.size: 1])
    }

    @Test("a delivery, also one that may not send, writes down what waits")
    func delivery() async throws {
        let post = Post { _, number in number == 0 ? .keyRefused() : .well }
        try post.record(1)
        #expect(await post.courier.deliver(within: 10) == .keyRefused)
        let entry = Entry(#"{"install_id":"i"}"#) { #"{"id":"id-\#($0)","seq":\#($0)}"# }
        #expect(post.queue.waiting.withLock { $0.take(entry) })
        #expect(await post.courier.deliver(within: 10) == .keyRefused)
        #expect(!post.queue.hasWaiting)
        #expect(try Queue(directory: post.scratch.url).drain().seqs == [1, 2])
    }

    @Test("one that cannot be written down after all is counted, and the developer told")
    func lost() throws {
        let diagnostics = Diagnostics()
        let queue = Queue(directory: scratch.url, diagnostics: diagnostics)
        let entries = [
            Entry("{}") { _ in String(repeating: "x", count: 200_000) }, Entry("{}") { "{\"seq\":\($0)}" },
        ]
        for entry in entries { #expect(queue.waiting.withLock { $0.take(entry) }) }
        let (seqs, drops) = try queue.drain()
        #expect(seqs == [1] && drops == [.size: 1])
        #expect(diagnostics.count(of: .notRecorded) == 1)
    }

    @Test("a response that waits in memory is reported once, and its time is that of its recording")
    func time() throws {
        let phone = Phone()
        phone.set(recorded: .waiting)
        let push = try phone.push(#"{"gcm.message_id":"0:1%1"}"#)
        for _ in 0..<2 { phone.bellwether.responded(to: push, action: "LIKE") }
        #expect(phone.drafts.count == 1)
        let queue = Queue(directory: scratch.url)
        #expect(queue.waiting.withLock { $0.take(Entry("{}", at: 1_700_000_000_000) { "{\"seq\":\($0)}" }) })
        #expect(try queue.next(events: 1, bytes: 1)?.events.map(\.time) == [1_700_000_000_000])
    }
}
