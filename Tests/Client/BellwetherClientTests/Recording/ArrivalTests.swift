import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("A notification in the service extension")
struct ArrivalTests {
    private typealias Bellwether = BellwetherClient.Bellwether
    private typealias Media = BellwetherClient.Bellwether.Media

    private let payload = #"{"aps":{"alert":"x"},"fcm_options":{"image":"https://e.example/a.png"}}"#

    private func media(_ phone: Phone) throws -> [[String: Any]?] {
        try phone.drafts.map { draft in
            let object = try JSONSerialization.jsonObject(with: Data(draft.json(seq: 1))) as? [String: Any]
            return object?["media"] as? [String: Any]
        }
    }

    @Test("it is recorded and on its way while the media load: the process may end with the system's handler")
    func sends() async throws {
        let (scratch, server) = (QueueDirectory(inMemory: true), ScriptedTransport { _, _ in .well })
        let library = try server.library(in: scratch.url, isExtension: true)
        let push = library.push(
            try BellwetherClientTests.payload(payload), request: .init(identifier: UUID().uuidString))
        let arrival = Arrival(push, in: library)
        #expect(await comes { server.stored == [1] })
        #expect(arrival.conclude(push, [], isOutOfTime: false, network: .wifi))
        #expect(!arrival.conclude(push, [], isOutOfTime: true, network: .wifi))
    }

    @Test("what became of the media is a second receipt, and where there was nothing to load there is none")
    func twice() throws {
        let phone = Phone()
        let push = try phone.push(payload, request: .init(identifier: "r"))
        #expect(Arrival(push, in: phone.bellwether).conclude(push, [], isOutOfTime: false, network: .cellular))
        let plain = try phone.push("{}", request: .init(identifier: "s"))
        #expect(Arrival(plain, in: phone.bellwether).conclude(plain, [], isOutOfTime: false, network: .wifi))
        let told = try media(phone)
        #expect(phone.drafts.allSatisfy { $0.type == .received })
        #expect(told.map { $0?["outcome"] as? String } == [nil, "failed", nil])
        #expect(try phone.events().count == 3)
    }

    @Test("stories and the content extension send from the extension; pages wait for what ends the story")
    func stories() async throws {
        let (scratch, server) = (QueueDirectory(inMemory: true), ScriptedTransport { _, _ in .well })
        let library = try server.library(in: scratch.url, isExtension: true)
        let push = library.push(["aps": ["alert": "x"]], request: .init(identifier: UUID().uuidString))
        library.contentExtension(showed: push)
        #expect(await comes { server.stored == [1] })
        let story = library.story(of: push)
        story.started(pageCount: 2)
        story.pageShown(at: 0)
        story.actionTapped(at: 0)
        #expect(await comes { server.stored == [1, 2, 3, 4] })
        story.finished()
        #expect(await comes { server.stored.count == 5 })
        library.story(of: push).fallbackShown()
        #expect(await comes { server.stored.count == 6 })
    }

    @Test(
        "what Hive leaves out on purpose is no failure, and its limits say why the rest is missing",
        arguments: [
            ("a.mp4", Media.Network.cellular, 1, Media(.skipped, reason: .cellular)),
            ("a.mp3", .other, 1, Media(.skipped, reason: .cellular)),
            ("a.mp4", .wifi, 1, Media(.failed)), ("a.png", .cellular, 1, Media(.failed)),
            ("a.webp", .wifi, 1, Media(.failed, reason: .unsupportedType)),
            ("a.MOV", .wifi, 1, Media(.failed, reason: .unsupportedType)),
            ("a.jpeg", .wifi, 10_000_001, Media(.failed, reason: .tooLarge)),
            ("a.jpeg", .wifi, 10_000_000, Media(.failed)),
            ("a.avi", .wifi, 50_000_001, Media(.failed, reason: .tooLarge)),
            ("a.mp4", .wifi, 10_000_001, Media(.failed)),
        ])
    private func hive(file: String, network: Media.Network, bytes: Int, expected: Media) {
        let watch = MediaWatch(MediaAddress("https://e.example/\(file)"), startedAt: 0, rules: .hive)
        watch.tell(bytes: bytes)
        let media = watch.conclude([], isOutOfTime: false, network: network, at: 1)
        #expect(media?.outcome == expected.outcome && media?.reason == expected.reason)
        let free = MediaWatch(MediaAddress("https://e.example/\(file)"), startedAt: 0)
        free.tell(bytes: bytes)
        #expect(free.conclude([], isOutOfTime: false, network: network, at: 1)?.reason == nil)
    }

    @Test("the size is asked for only where a rule needs it, and out of time says out of time")
    func size() async throws {
        let asked = Guarded<[String]>([])
        let phone = Phone(
            mediaRules: .hive,
            mediaSize: { url in
                asked.withLock { $0.append(url.lastPathComponent) }
                return 99_000_000
            })
        for name in ["a.png", "b.mp3"] {
            let text = #"{"fcm_options":{"image":"https://e.example/\#(name)"}}"#
            let push = try phone.push(text, request: .init(identifier: name))
            let arrival = Arrival(push, in: phone.bellwether)
            if name == "a.png" { #expect(await comes { asked.withLock { $0 } == ["a.png"] }) }
            #expect(arrival.conclude(push, [], isOutOfTime: true, network: .cellular))
        }
        #expect(asked.withLock { $0 } == ["a.png"])
        #expect(try media(phone).compactMap { $0?["outcome"] as? String } == ["timed_out", "timed_out"])
    }

    @Test("words of the catalogue make media; any other word makes none")
    func words() {
        #expect(
            Media(outcome: "skipped", kind: "video", reason: "cellular")
                == Media(.skipped, kind: .video, reason: .cellular))
        #expect(Media(outcome: "attached", kind: nil, reason: nil) == Media(.attached))
        #expect(Media(outcome: "lost", kind: nil, reason: nil) == nil)
        #expect(Media(outcome: "failed", kind: "film", reason: nil) == nil)
        #expect(Media(outcome: "failed", kind: nil, reason: "why") == nil)
    }
}
