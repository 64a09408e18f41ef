import BellwetherClient
import Foundation
import Testing

/// What the library does with the system that it is built for. All else is tested where it is developed.
@Suite("The client library on this system")
struct SmokeTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    /// The port of nobody: nothing is sent.
    private func library() throws -> Bellwether {
        let server = try #require(URL(string: "http://127.0.0.1:9"))
        var configuration = Bellwether.Configuration(server: server, writeKey: "key", directory: directory)
        configuration.observesSettings = false
        return Bellwether(configuration)
    }

    @Test("an event is on disk when the call returns, and the next process is the same install, until all is deleted")
    func events() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let first = try library()
        first.reached("smoke", value: 1.5, currency: "EUR")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.contains("install") && names.contains { $0.hasPrefix("events-") }, "\(names)")

        let id = try #require(first.installID)
        let second = try library()
        #expect(second.installID == id)
        #expect(second.optOut() && !first.isRecording)
        #expect(second.optIn() && first.isRecording)
        #expect(second.deleteEverything() == id)
        #expect(first.installID != id)
    }
}
