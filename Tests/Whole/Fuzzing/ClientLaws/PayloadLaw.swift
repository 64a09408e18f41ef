package import Envelopes
import Foundation
import Telemetry
import Values

@testable import BellwetherClient

/// What holds for every payload that a sender may write.
///
/// The first byte of an input chooses what the system and the app say beside the payload. The rest is the payload, as
/// JSON.
package enum PayloadLaw {
    private static let now = Date(timeIntervalSince1970: 1_795_167_010.001)
    private static let received = Timestamp(microseconds: 1_795_167_013_000_000)
    private static let source = Source().description.json(install: UUID())

    /// Each law that a payload broke, in words.
    package static func broken(
        by input: [UInt8], in decoder: EnvelopeDecoder = EnvelopeDecoder()
    ) -> [String] {
        guard let choice = input.first,
            let payload = try? JSONSerialization.jsonObject(with: Data(input.dropFirst())) as? [String: Any]
        else { return [] }
        let memory = Memory()
        let bellwether = Bellwether(
            recorder: memory, clock: DeviceClock(wall: { now }, uptime: { 1000 }),
            keys: choice & 1 == 0 ? Bellwether.PayloadKeys() : keys,
            activity: AppActivity(center: NotificationCenter()))
        let push = bellwether.push(payload, request: request(choice))
        let action = push.category ?? "READ"
        bellwether.register([.init(id: action, buttons: [.init(id: "OTHER"), .init(id: action, opensApp: true)])])
        use(push, bellwether, action)
        let drafts = memory.drafts.withLock { $0 }
        guard push.key != nil else { return drafts.isEmpty ? [] : ["an event has no notification"] }
        return drafts.count < 9 ? ["events are missing"] : faults(of: drafts, decoder)
    }

    /// Everything that may become of a notification.
    private static func use(_ push: Bellwether.Push, _ bellwether: Bellwether, _ action: String) {
        bellwether.received(push, .serviceExtension(media: push.media == .none ? nil : .init(.attached)))
        bellwether.received(push, .background(.newData))
        bellwether.sweep([push])
        bellwether.contentExtension(showed: push)
        for action in [Bellwether.ActionIdentifier.open, Bellwether.ActionIdentifier.dismiss, action] {
            bellwether.responded(to: push, action: action, launch: .warm)
        }
        let story = bellwether.story(of: push, loops: true)
        story.started(pageCount: max(1, push.story.pages.count))
        for index in 0...min(push.story.pages.count, 5) {
            story.pageShown(at: index)
            story.actionTapped(at: index)
        }
        story.finished()
        story.fallbackShown()
    }

    /// The service takes each event, in the envelope in which the library sends them.
    private static func faults(of drafts: [Draft], _ decoder: EnvelopeDecoder) -> [String] {
        var batch = Batch(first: 1, last: Int64(drafts.count))
        batch.sources = [source]
        batch.events = drafts.enumerated().map { place, draft in
            let seq = Int64(place + 1)
            return Batch.Event(seq: seq, age: 0, time: now.milliseconds, source: 0, json: draft.json(seq: seq)[...])
        }
        let envelope = Envelope(batch, sentAt: Moment(now))
        do throws(EnvelopeError) {
            let decoded = try decoder.decode(body: envelope.bytes, receivedAt: received)
            return (decoded.count == drafts.count ? [] : ["the service finds other events"])
                + decoded.rejected.map { "\(drafts[$0.index].type.rawValue): \($0.rejection.detail)" }
        } catch {
            return ["the service refuses an envelope: \(error)"]
        }
    }

    private static func request(_ choice: UInt8) -> Bellwether.Request {
        var request = Bellwether.Request()
        if choice & 2 != 0 { request.identifier = "8F2F6F0E-6A0C-4D3A-9A52-0D6C2F6F7A11" }
        if choice & 4 != 0 { request.deliveredAt = now.addingTimeInterval(-60) }
        if choice & 8 != 0 { request.origin = .local }
        if choice & 16 != 0 { (request.category, request.relevanceScore) = ("NEWS", -.infinity) }
        return request
    }

    private static let keys = {
        var keys = Bellwether.PayloadKeys()
        (keys.campaign, keys.variant, keys.analyticsLabel) = (["a.campaign", "campaign"], ["a.variant"], ["label"])
        (keys.topic, keys.deliveryID, keys.sentAt, keys.media) = (["a.b.topic"], ["a.id", "id"], ["sent"], ["media"])
        return keys
    }()

    private final class Memory: Recorder {
        let drafts = Guarded<[Draft]>([])

        func record(_ draft: Draft) -> Recorded {
            drafts.withLock { $0.append(draft) }
            return .kept
        }
    }
}
