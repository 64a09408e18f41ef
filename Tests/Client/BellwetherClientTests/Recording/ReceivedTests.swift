import Foundation
import Telemetry
import Testing

@testable import BellwetherClient

@Suite("A notification arrived")
struct ReceivedTests {
    private let visible = #"{"aps":{"alert":"x","category":"NEWS"},"gcm.message_id":"0:1%1"}"#

    @Test("each way of knowing it is told as it is")
    func ways() throws {
        let phone = Phone()
        let push = try phone.push(#"{"aps":{"alert":"x","content-available":1},"gcm.message_id":"0:1%1"}"#)
        let media = BellwetherClient.Bellwether.Media(
            .attached, kind: .image, format: "jpg", bytes: 120_344, milliseconds: 420, network: .wifi)
        for receipt in [
            .serviceExtension(media: media), .serviceExtension(), .foreground(presentation: [.sound, .banner]),
            .foreground(presentation: []), .background(.noData), .background(nil),
        ] as [BellwetherClient.Bellwether.Receipt] {
            phone.bellwether.received(push, receipt)
        }
        #expect(
            try phone.events().map(\.interaction) == [
                .received(
                    Receipt(
                        via: .serviceExtension,
                        media: Media(
                            kind: .image, format: "jpg", outcome: .attached, bytes: 120_344, ms: 420, network: .wifi))),
                .received(Receipt(via: .serviceExtension)),
                .received(Receipt(via: .foreground, presentation: [.banner, .sound])),
                .received(Receipt(via: .foreground, presentation: [])),
                .received(Receipt(via: .background, fetchResult: .noData)), .received(Receipt(via: .background)),
            ])
        #expect(try phone.events().allSatisfy { $0.extra == nil })
    }

    @Test("the background callback of a visible push says that somebody tapped, and is not recorded")
    func backgroundOfVisible() throws {
        let phone = Phone()
        phone.bellwether.received(try phone.push(visible), .background(.newData))
        #expect(phone.drafts.isEmpty)
    }

    @Test("every word of the library's is one of the service's")
    func words() throws {
        typealias Client = BellwetherClient.Bellwether
        let phone = Phone()
        let push = try phone.push(#"{"aps":{"content-available":1},"gcm.message_id":"0:1%1"}"#)
        for outcome in [.attached, .prefetched, .timedOut, .failed, .skipped, .none] as [Client.Media.Outcome] {
            for reason in [.cellular, .tooLarge, .unsupportedType, .insecureURL, .network, .invalid]
                as [Client.Media.Reason]
            {
                for kind in [.image, .video, .audio, .unknown] as [Client.Media.Kind] {
                    for network in [.wifi, .cellular, .other] as [Client.Media.Network] {
                        let media = Client.Media(
                            outcome, kind: kind, reason: reason, bytes: -1, milliseconds: 10_000_000, network: network)
                        phone.bellwether.received(push, .serviceExtension(media: media))
                    }
                }
            }
        }
        for result in [.newData, .noData, .failed] as [Client.FetchResult] {
            phone.bellwether.received(push, .background(result))
        }
        phone.bellwether.received(push, .foreground(presentation: Set(Client.Presentation.allCases)))
        for reason in [.missing, .malformed, .noValidPage, .unknown] as [Client.FallbackReason] {
            phone.bellwether.story(of: push).fallbackShown(reason: reason)
        }
        for launch in [.cold, .warm, .foreground] as [Client.Launch] {
            for handler in [.app, .contentExtension] as [Client.Handler] {
                phone.bellwether.responded(to: push, action: "\(launch)", handledBy: handler, launch: launch)
            }
        }
        let events = try phone.events()
        #expect(events.count == phone.drafts.count)
        #expect(events.allSatisfy { $0.extra == nil })
    }

    @Test("a phone on which recording is off records nothing, and says nothing about it")
    func switchedOff() throws {
        let phone = Phone()
        let push = try phone.push(visible, request: .init(deliveredAt: Date()))
        phone.bellwether.isRecording = false
        phone.bellwether.received(push, .serviceExtension())
        phone.bellwether.sweep([push])
        phone.bellwether.responded(to: push, action: "A", launch: .cold)
        phone.bellwether.contentExtension(showed: push)
        phone.bellwether.story(of: push).started(pageCount: 1)
        #expect(phone.drafts.isEmpty)
        phone.bellwether.isRecording = true
        phone.bellwether.responded(to: push, action: "A", launch: .cold)
        #expect(phone.drafts.count == 1)
    }
}
