import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("What a person may ask of an app: to be left alone, and to be forgotten")
struct ConsentTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let scratch = QueueDirectory(inMemory: true)
    private let server = ScriptedTransport { _, _ in .well }

    /// A process of the app, or of one of its extensions.
    private func process(isExtension: Bool = false) throws -> Bellwether {
        try server.library(in: scratch.url, isExtension: isExtension) { configuration in
            configuration.deliversByItself = false
            configuration.extensionSeconds = 0
        }
    }

    private func open(_ library: Bellwether) {
        library.responded(
            to: library.push(["aps": ["alert": "x"]], request: .init(identifier: UUID().uuidString)),
            action: Bellwether.ActionIdentifier.open)
    }

    private func files() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: scratch.url.path)) ?? []).sorted()
    }

    @Test("the id is made when it is first asked for, is the one that events carry, and is the same in each process")
    func installID() async throws {
        let app = try process()
        let id = try #require(app.installID)
        open(app)
        #expect(await app.flush(within: 60) == .delivered)
        #expect(server.envelopes.map(\.source) == [id.uuidString.lowercased()])
        #expect(try process(isExtension: true).installID == id)
    }

    @Test(
        "whoever opts out is left alone by every process at once, and after a restart; what waited is gone, uncounted")
    func optOut() async throws {
        let (app, service) = (try process(), try process(isExtension: true))
        for _ in 0..<5 { open(app) }
        open(service)
        let id = app.installID
        #expect(app.optOut())
        open(app)
        open(service)
        open(try process())
        for library in [app, service] {
            #expect(!library.isRecording && library.isOptedOut)
            #expect(await library.flush(within: 60) == .delivered)
        }
        #expect(server.envelopes.isEmpty)
        #expect(service.optIn() && app.isRecording && app.installID == id)
        open(app)
        #expect(await app.flush(within: 60) == .delivered)
        #expect(server.stored.count == 1 && server.drops.isEmpty)
    }

    @Test("if it is wanted, what waits is still sent, and nothing that comes later")
    func sent() async throws {
        let app = try process()
        for _ in 0..<3 { open(app) }
        #expect(app.optOut(.sent))
        open(app)
        #expect(await app.flush(within: 60) == .delivered)
        #expect(server.stored.count == 3)
    }

    @Test(
        "if the process ends between the choice and what it means, the next delivery drops what waits, and so does opting in",
        arguments: [false, true])
    func killed(isOptedIn: Bool) async throws {
        let app = try process()
        open(app)
        try BellwetherClient.QueueDirectory.dropping.write(
            toFile: scratch.url.path + "/opted-out", atomically: true, encoding: .utf8)
        let next = try process()
        if isOptedIn { #expect(next.optIn()) }
        #expect(await next.flush(within: 60) == .delivered)
        #expect(server.envelopes.isEmpty && server.drops.isEmpty)
    }

    @Test("what was half written, or half replaced, when a process ended goes with the rest", arguments: [false, true])
    func torn(isDeleted: Bool) async throws {
        let app = try process()
        for _ in 0..<5 { open(app) }
        let id = try #require(app.installID)
        let segment = try #require(scratch.names("events-").last)
        try scratch.write(Array(scratch.bytes(segment).dropLast(3)), to: segment)
        for name in ["set-aside.new", "install.new"] { try scratch.write(Array("\(id)".utf8), to: name) }
        let next = try process()
        if isDeleted { #expect(next.deleteEverything() == id) } else { #expect(next.optOut()) }
        let traces = scratch.names().filter { name in
            let text = String(decoding: scratch.bytes(name), as: UTF8.self)
            return text.contains("notification") || text.contains("set-aside")
        }
        #expect(traces.isEmpty && !scratch.names().contains("set-aside.new"))
        #expect(isDeleted == !scratch.names().contains("install.new"))
        #expect(isDeleted || next.optIn())
        open(next)
        #expect(await next.flush(within: 60) == .delivered)
        #expect(server.stored.count == 1 && server.stored[0] > 5 && server.drops.isEmpty)
    }

    @Test("if something cannot be deleted, the id stays until it can be, so that whoever asks again is told of it")
    func notDeleted() throws {
        let app = try process()
        open(app)
        let id = try #require(app.installID)
        let obstacle = URL(fileURLWithPath: scratch.path("permission"))
        try? FileManager.default.removeItem(at: obstacle)
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        #expect(app.deleteEverything() == nil && app.reports.count(of: .notDone) == 1)
        try FileManager.default.removeItem(at: obstacle)
        #expect(app.deleteEverything() == id)
    }

    @Test("an event that waits in memory while somebody opts out is never written")
    func waiting() throws {
        let app = try process()
        let queue = try #require(app.queue)
        let entry = Entry(time: queue.now, source: { Array("{}".utf8) }, event: { _ in Array("{}".utf8) })
        #expect(app.optOut(.sent))
        #expect(queue.waiting.withLock { $0.take(entry) })
        #expect(try queue.next(events: 10, bytes: 1 << 20) == nil)
    }

    @Test(
        "deleting leaves no trace of install, events and settings, returns the id, and the next event is of a new install"
    )
    func deleteEverything() async throws {
        let (app, service) = (try process(), try process(isExtension: true))
        open(service)
        app.sweep([app.push(["aps": ["alert": "x"]], request: .init(identifier: "r", deliveredAt: Date()))])
        app.learn(Permission(authorization: .authorized))
        let id = try #require(app.installID)
        #expect(app.deleteEverything() == id)
        #expect(!files().contains { ["install", "swept", "permission", "set-aside", "app-open"].contains($0) })
        #expect(await service.flush(within: 60) == .delivered)
        #expect(server.envelopes.isEmpty)
        #expect(try process().deleteEverything() == nil)
        // The extension knew the former id.
        open(service)
        #expect(await service.flush(within: 60) == .delivered)
        let new = try #require(app.installID)
        #expect(new != id && server.envelopes.map(\.source) == [new.uuidString.lowercased()])
        #expect(server.stored.count == 1 && server.drops.isEmpty)
    }

    @Test("where nothing was recorded, nothing is made but the choice; deleting finds nothing and makes nothing")
    func untouched() throws {
        let app = try process()
        #expect(app.deleteEverything() == nil && files().isEmpty)
        app.isRecording = false
        #expect(app.installID == nil && files().isEmpty)
        #expect(app.optOut())
        #expect(!files().contains("install"))
        #expect(app.deleteEverything() == nil && app.isOptedOut)
    }

    @Test("what cannot be stored is told, and this process records nothing more all the same")
    func unwritable() async throws {
        // A file where the directory should be: nobody can write there, whoever runs this.
        let place = scratch.url.deletingLastPathComponent().appendingPathComponent("f-\(UUID().uuidString)")
        try Data().write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        let app = try server.library(in: place)
        #expect(!app.optOut() && !app.isRecording)
        #expect(app.reports.count(of: .notDone) == 1)
    }
}
