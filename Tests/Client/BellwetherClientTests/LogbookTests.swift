import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("What the library prints by itself")
struct LogbookTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let scratch = QueueDirectory(inMemory: true)

    @Test(
        "nothing; problems; or events and deliveries, too",
        arguments: [
            (Bellwether.Log.nothing, []), (.problems, ["misused"]), (.debug, ["misused", "notification", "A"]),
        ])
    private func levels(level: Bellwether.Log, begins: [String]) async throws {
        let lines = Guarded<[String]>([])
        let logbook = Logbook(level) { line in lines.withLock { $0.append(line) } }
        var configuration = Bellwether.Configuration(
            server: try #require(URL(string: "https://b.example")), writeKey: "wk_1", directory: scratch.url)
        configuration.deliversByItself = false
        let library = Bellwether(
            configuration, transport: ScriptedTransport { _, _ in .well }, clock: .system, log: logbook)
        library.reached("")
        library.contentExtension(showed: library.push([:], request: .init(identifier: "100% secret")))
        #expect(await library.flush(within: 60) == .delivered)
        let told = lines.withLock { $0 }
        #expect(told.count == begins.count, "\(told)")
        for (line, begin) in zip(told, begins) { #expect(line.hasPrefix("Bellwether: \(begin)"), "\(line)") }
        #expect(!told.contains { $0.contains("secret") })
    }

    @Test("an endless fault fills no log")
    func bounded() {
        let lines = Guarded(0)
        let logbook = Logbook(.problems) { _ in lines.withLock { $0 += 1 } }
        for _ in 0..<(Logbook.mostLines + 10) { logbook.tell(Diagnostic(.misused, "again")) }
        #expect(lines.withLock { $0 } == Logbook.mostLines)
    }
}
