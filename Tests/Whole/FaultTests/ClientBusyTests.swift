import Foundation
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("A process stands still with the client's queue in its hands")
struct ClientBusyTests {
    private let scratch = TemporaryDirectory()

    private func process(_ role: String, server: String = "http://127.0.0.1:1", key: String = "key") throws
        -> ChildProcess
    {
        let binary = (TestSupport.Bellwether.path as NSString).deletingLastPathComponent + "/ClientProcess"
        return try ChildProcess([binary, role, scratch("queue"), server, key, scratch("recorded")])
    }

    private func holder() throws -> ChildProcess {
        let holder = try process("hold")
        #expect(eventually { holder.output == "held\n" }, "\(holder.messages)")
        return holder
    }

    private func end(_ holder: ChildProcess) throws {
        holder.signal(SIGKILL)
        try holder.wait()
    }

    private var recorded: [String] {
        let text = (try? String(contentsOfFile: scratch("recorded"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    private func entry(_ number: Int) -> Entry {
        Entry(time: 0, source: { Array("{}".utf8) }, event: { Array(#"{"n":\#(number),"seq":\#($0)}"#.utf8) })
    }

    @Test("doors return, the events wait in memory, and are stored once and in order when it is gone")
    func stored() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let app = try database.makeApp()
        let service = try TestSupport.Bellwether(database).serve()
        defer { _ = try? service.stop() }
        let server = "http://127.0.0.1:\(service.port)"

        let holder = try holder()
        let phone = try process("linger", server: server, key: app.secret)
        #expect(eventually { recorded.count == 5 }, "\(phone.messages)")
        #expect(eventually { phone.messages.components(separatedBy: "delayed:").count == 6 }, "\(phone.messages)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch("queue"))
        #expect(names == ["lock"], "nothing could be written, not even the install's id")
        try end(holder)
        // Whoever comes first to the disk comes first in the sequence.
        #expect(try process("once").wait().status == 0)
        #expect(FileManager.default.createFile(atPath: scratch("recorded.go"), contents: nil))
        let ended = try phone.wait(within: 120)
        #expect(ended.status == 0, "\(ended)")

        let stored: [String] = try database.column("SELECT notification_id FROM analytics.events ORDER BY seq")
        let expected = ["once"] + (1...6).map { "linger-\($0)" }
        #expect(stored == expected)
        let seqs: [Int64] = try database.column("SELECT seq FROM analytics.events ORDER BY seq")
        #expect(seqs == Array(1...7))
        #expect(try database.column("SELECT count(DISTINCT install_id) FROM analytics.events") == [Int64(1)])
        #expect(try database.column("SELECT count(*) FROM analytics.client_drops") == [Int64(0)])
    }

    @Test("a door waits for about a second, of which no part is left for the next one")
    func patience() throws {
        let holder = try holder()
        var waits: [Double] = []
        for number in 0..<3 {
            let queue = Queue(directory: URL(fileURLWithPath: scratch("queue")))
            let began = Deadline.now
            #expect(try queue.append(entry(number)) == nil)
            waits.append(Double(Deadline.now.nanoseconds - began.nanoseconds) / 1e9)
        }
        print("a door that finds the queue held returns after \(waits) s")
        #expect(waits.allSatisfy { $0 > 0.9 })
        // The machine may be busy; three times in a row it is not.
        #expect(waits.min() ?? .infinity < 3)
        try end(holder)
    }

    @Test("what does not fit into memory is counted as dropped, and what fits is written down in order")
    func tooMany() throws {
        let holder = try holder()
        let queue = Queue(directory: URL(fileURLWithPath: scratch("queue")), patience: 0.01)
        for number in 1...WaitingRoom.size { #expect(try queue.append(entry(number)) == nil) }
        for number in 1...5 {
            #expect(throws: QueueError.busy) { try queue.append(entry(WaitingRoom.size + number)) }
        }
        #expect(throws: QueueError.busy) { try queue.next(events: 1, bytes: 1, within: 0) }
        try end(holder)

        let patient = WaitingRoom.size
        #expect(try queue.append(entry(0)) == Int64(patient + 1))
        let batch = try #require(try queue.next(events: 1000, bytes: .max))
        let numbers = try batch.events.map { event in
            try #require(JSONSerialization.jsonObject(with: Data(event.json)) as? [String: Int])
        }
        let (order, seqs) = (numbers.compactMap { $0["n"] }, numbers.compactMap { $0["seq"] })
        #expect(order == Array(1...patient) + [0])
        #expect(seqs == Array(1...(patient + 1)))
        #expect(batch.drops.map(\.count) == [5] && batch.drops.map(\.reason) == [.unreadable])
    }
}
