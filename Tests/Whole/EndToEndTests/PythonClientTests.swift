import Foundation
import Postgres
import ProjectFolder
import TestSupport
import Testing

/// Examples/python is what a client in another language is begun from.
@Suite("The example of a client in Python")
struct PythonClientTests {
    private static let examples = ProjectFolder.path + "/Examples"
    private static let python = ["/usr/bin/python3", "-B"]

    private static func tries(_ vectors: String) throws -> ChildProcess.Ended {
        try ChildProcess.run(python + ["\(examples)/python/try_vectors.py", vectors], within: 300)
    }

    @Test("it passes every vector, and says which it does not")
    func vectors() throws {
        let ended = try Self.tries("\(Self.examples)/vectors")
        #expect(ended.status == 0 && ended.output.contains(" vectors pass."), "\(ended.output)")
        let numbers = ended.output.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        #expect(numbers.count == 2 && numbers[0] == numbers[1] && numbers[0] > 80, "\(ended.output)")

        let directory = TemporaryDirectory()
        let copy = "\(directory.path)/vectors"
        try FileManager.default.copyItem(atPath: "\(Self.examples)/vectors", toPath: copy)
        let text = try String(contentsOfFile: "\(copy)/times.json", encoding: .utf8)
        try text.replacing("2026-11-20T09:30:10.001Z", with: "2026-11-20T09:30:10.002Z")
            .write(toFile: "\(copy)/times.json", atomically: true, encoding: .utf8)
        let failed = try Self.tries(copy)
        #expect(failed.status == 1 && failed.output.contains("times: a time is written in UTC"), "\(failed.output)")
    }

    @Test("a real server stores what it records, once, after a kill too")
    func delivers() throws {
        let shared = try SharedService.get()
        let app = try shared.makeApp()
        let directory = TemporaryDirectory()
        let script = """
            import os, sys
            sys.path.insert(0, "\(Self.examples)/python")
            import bellwether, payloads
            client = bellwether.Client(
                "http://127.0.0.1:\(shared.service.port)", "\(app.secret)", "\(directory.path)/queue",
                "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", {"platform": "ios"})
            push = payloads.Notification(client, {"aps": {"alert": "x", "category": "OFFER"}}, {"identifier": "r-1"})
            if sys.argv[1] == "record":
                push.arrived()
                push.responded(payloads.OPENED)
                with open("\(directory.path)/queue/events", "ab") as file:
                    file.write(b'{"id": "half')
                    file.flush()
                    os._exit(9)
            push.reached("purchase", "129.90", "THB")
            print(client.deliver(30), client.deliver(30), os.path.getsize("\(directory.path)/queue/events"))
            """
        #expect(try ChildProcess.run(Self.python + ["-c", script, "record"]).status == 9)
        let ended = try ChildProcess.run(Self.python + ["-c", script, "deliver"])
        #expect(ended.output == "delivered delivered 0\n", "\(ended.output)\(ended.messages)")
        let stored: [String] = try shared.database.column(
            "SELECT type || ' ' || seq FROM analytics.events WHERE app = \(app.slug) ORDER BY seq")
        #expect(stored == ["notification.received 1", "notification.opened 2", "goal.reached 3"])
    }
}
