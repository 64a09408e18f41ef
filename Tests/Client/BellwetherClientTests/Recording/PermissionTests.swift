import Foundation
import ServiceRuntime
import Telemetry
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("The person's permission")
struct PermissionTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let scratch = TemporaryDirectory()
    private var file: URL { URL(fileURLWithPath: scratch("permission")) }

    private func changes(_ phone: Phone) throws -> [String] {
        try phone.events().map { event in
            guard case .permissionChanged(let to, let from) = event.interaction else { return "\(event.type)" }
            return "\(from?.wire ?? "") -> \(to?.wire ?? "")"
        }
    }

    @Test("what is seen first is no change; a change is one event about the install, told once and by one process")
    func changed() throws {
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .notDetermined, previews: .always))
        phone.bellwether.learn(Permission(authorization: .notDetermined, previews: .never))
        #expect(phone.drafts.isEmpty)
        phone.bellwether.learn(Permission(authorization: .authorized))
        phone.bellwether.learn(Permission(authorization: .authorized))
        let later = Phone(permission: file)
        later.bellwether.learn(Permission(authorization: .authorized))
        later.wait(3_600)
        later.bellwether.learn(Permission(authorization: .denied))
        #expect(try changes(phone) == ["not_determined -> authorized"])
        #expect(try changes(later) == ["authorized -> denied"])
        #expect(try phone.events().allSatisfy { $0.notificationKey == nil })
        #expect(phone.bellwether.authorization == .authorized && later.bellwether.authorization == .denied)
    }

    @Test("the first prompt of a new install is told, although nothing was recorded before it")
    func firstPrompt() throws {
        let new = URL(fileURLWithPath: scratch("new")).appendingPathComponent("permission")
        let phone = Phone(permission: new)
        phone.bellwether.learn(Permission(authorization: .notDetermined))
        phone.bellwether.learn(Permission(authorization: .authorized))
        #expect(try changes(phone) == ["not_determined -> authorized"])
        #expect(PermissionMemory(file: new).read()?.authorization == "authorized")
    }

    @Test("what could not be written down is recorded later with the same id and time, and then not again")
    func lost() throws {
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .authorized))
        phone.set(recorded: .lost)
        phone.bellwether.learn(Permission(authorization: .denied))
        let known = try #require(PermissionMemory(file: file).read()?.pending?.first)
        let later = Phone(permission: file)
        later.wait(86_400)
        for _ in 0..<2 { later.bellwether.learn(Permission(authorization: .denied)) }
        #expect(try changes(later) == ["authorized -> denied"])
        #expect(later.drafts.map { "\($0.id)" } == [known.id] && later.drafts.map(\.at.milliseconds) == [known.at])
    }

    @Test("a change that follows before the former one is on disk comes with the next look")
    func twice() throws {
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .authorized))
        phone.set(recorded: .lost)
        phone.bellwether.learn(Permission(authorization: .denied))
        phone.bellwether.learn(Permission(authorization: .provisional))
        phone.set(recorded: .kept)
        phone.bellwether.learn(Permission(authorization: .provisional))
        phone.bellwether.learn(Permission(authorization: .provisional))
        #expect(try changes(phone) == ["authorized -> denied", "denied -> provisional"])
    }

    @Test("a file with anything in it is as none, and somebody who wants nothing recorded leaves no trace")
    func unreadable() throws {
        try Data([0xFF, 0x00]).write(to: file)
        let phone = Phone(permission: file)
        phone.bellwether.learn(Permission(authorization: .denied))
        phone.bellwether.isRecording = false
        phone.bellwether.learn(Permission(authorization: .authorized))
        #expect(phone.drafts.isEmpty)
        phone.bellwether.isRecording = true
        phone.bellwether.learn(Permission(authorization: .authorized))
        #expect(try changes(phone) == ["denied -> authorized"])
    }

    @Test("the system's numbers have their names; others are not known")
    func numbers() {
        #expect(
            (-1...5).map { Bellwether.Authorization(status: $0)?.rawValue }
                == [nil, "not_determined", "denied", "authorized", "provisional", "ephemeral", nil])
        #expect(
            (-1...3).map { Bellwether.Previews(setting: $0)?.rawValue }
                == [nil, "always", "when_authenticated", "never", nil])
        #expect(
            (-1...4).map { Bellwether.Request.interruptionLevel(rawValue: $0) }
                == [nil, "passive", "active", "time-sensitive", "critical", nil])
        #expect(Bellwether.Media.Network(isConnected: false, usesWiFi: true, usesCellular: false) == nil)
        #expect(Bellwether.Media.Network(isConnected: true, usesWiFi: true, usesCellular: false) == .wifi)
        #expect(Bellwether.Media.Network(isConnected: true, usesWiFi: true, usesCellular: true) == .cellular)
        #expect(Bellwether.Media.Network(isConnected: true, usesWiFi: false, usesCellular: false) == .other)
    }
}

@Suite("What the library does by itself")
struct ByItselfTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let front = NotificationCenter()
    private let scratch = TemporaryDirectory()

    private func post(_ name: String) {
        front.post(name: Notification.Name("UIApplicationDid\(name)Notification"), object: nil)
    }

    @Test(
        "whenever the app comes to the front, it asks for the permission and sweeps; not after somebody has switched it off"
    )
    func looks() throws {
        let asked = Lock(0)
        let swept = Lock(0)
        let system = SystemCenter { answer in
            asked.withLock { $0 += 1 }
            answer(Permission(authorization: asked.withLock { $0 } == 1 ? .authorized : .denied))
        } sweep: { _ in
            swept.withLock { $0 += 1 }
        }
        let phone = Phone(center: front, system: system, permission: URL(fileURLWithPath: scratch("permission")))
        post("BecomeActive")
        post("EnterBackground")
        post("BecomeActive")
        #expect(asked.withLock { $0 } == 2 && swept.withLock { $0 } == 2)
        #expect(phone.drafts.map(\.type) == [.permissionChanged])
        phone.bellwether.isRecording = false
        post("BecomeActive")
        #expect(asked.withLock { $0 } == 2 && swept.withLock { $0 } == 2)
    }

    /// A library with a queue and a server, in a process whose activities the test counts.
    private func library(
        _ change: (inout Bellwether.Configuration) -> Void, _ begun: Lock<[TimeInterval]>, isExtension: Bool = false
    ) throws -> (Bellwether, ScriptedTransport) {
        let server = ScriptedTransport { _, _ in .well }
        var configuration = Bellwether.Configuration(
            server: try #require(URL(string: "https://b.example")), writeKey: "wk_1",
            directory: URL(fileURLWithPath: scratch("queue")))
        change(&configuration)
        let activity = ExpiringActivity { _, block in
            begun.withLock { $0.append(0) }
            DispatchQueue.global().async { block(false) }
        }
        let library = Bellwether(
            configuration, transport: server, clock: .system, expiring: activity, activity: AppActivity(center: front),
            isExtension: isExtension)
        return (library, server)
    }

    private func open(_ library: Bellwether) throws {
        library.responded(
            to: library.push(["aps": ["alert": "x"]], request: .init(identifier: UUID().uuidString)),
            action: Bellwether.ActionIdentifier.open)
    }

    @Test("what waits goes out when the app goes to the background, with nothing wired")
    func background() async throws {
        let begun = Lock<[TimeInterval]>([])
        let (library, server) = try library({ _ in }, begun)
        post("BecomeActive")
        try open(library)
        #expect(server.envelopes.isEmpty && begun.withLock { $0.isEmpty })
        post("EnterBackground")
        #expect(eventually { server.envelopes.count == 1 })
        #expect(begun.withLock { $0.count } == 1)
    }

    @Test("an app that delivers by its own calls is left alone")
    func byHand() throws {
        let begun = Lock<[TimeInterval]>([])
        let (library, server) = try library({ $0.deliversByItself = false }, begun)
        try open(library)
        post("EnterBackground")
        library.flushIfBehind()
        #expect(begun.withLock { $0.isEmpty } && server.envelopes.isEmpty)
    }

    @Test(
        "an extension sends what it recorded, for as long as it may, and not at all with 0; an app does not",
        arguments: [(600.0, true), (0, true), (600, false)])
    func receipts(allowed: TimeInterval, isExtension: Bool) async throws {
        let begun = Lock<[TimeInterval]>([])
        let (library, server) = try library(
            {
                $0.deliversByItself = false
                $0.extensionSeconds = allowed
            }, begun, isExtension: isExtension)
        let seconds = isExtension ? allowed : 0
        try open(library)
        library.flushInExtension()
        if seconds == 0 {
            #expect(begun.withLock { $0.isEmpty } && server.envelopes.isEmpty)
        } else {
            #expect(await comes { server.envelopes.count == 1 })
        }
    }

    @Test(
        "the content says what the payload does not: level, relevance, window and summary; the payload is asked first")
    func content() throws {
        let phone = Phone(recordsSummaryArgument: true)
        var request = Bellwether.Request(identifier: "r")
        (request.interruptionLevel, request.relevanceScore) = ("passive", 7)
        (request.targetContentID, request.summaryArgument, request.summaryArgumentCount) = ("window", "Ann", 3)
        let told = try phone.notification(of: #"{"aps":{"alert":"x"}}"#, request: request)
        #expect(told.interruptionLevel == "passive" && told.relevanceScore == 1)
        #expect(told.targetContentID == "window" && told.summaryArgument == "Ann")
        let payload =
            #"{"aps":{"alert":{"body":"x","summary-arg":"Bob"},"interruption-level":"critical","relevance-score":0.25,"target-content-id":"other"}}"#
        let first = try phone.notification(of: payload, request: request)
        #expect(first.interruptionLevel == "critical" && first.relevanceScore == 0.25)
        #expect(first.targetContentID == "other" && first.summaryArgument == "Bob")
        phone.bellwether.received(
            phone.bellwether.push(["aps": ["alert": "x"]], request: request), .foreground(presentation: []))
        guard case .received(let receipt)? = try phone.events().last?.interaction else { throw CancellationError() }
        #expect(receipt.summaryArgumentCount == 3)
        #expect(try Phone().notification(of: payload, request: request).summaryArgument == nil)
    }
}
