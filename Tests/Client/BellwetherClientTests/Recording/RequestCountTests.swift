import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("What a day of pushes costs in requests")
struct RequestCountTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private let scratch = QueueDirectory(inMemory: true)
    private let server = ScriptedTransport { _, _ in .well }
    private let center = NotificationCenter()

    /// A process of the app, or of its service extension.
    private func start(isExtension: Bool) throws -> Bellwether {
        try server.library(in: scratch.url, isExtension: isExtension, activity: AppActivity(center: center))
    }

    private func push(_ number: Int, in library: Bellwether) -> Bellwether.Push {
        library.push(
            [
                "aps": ["alert": "x"], "gcm.message_id": "\(number)",
                "fcm_options": ["image": "https://e.example/a.png"],
            ],
            request: .init(identifier: "\(number)", deliveredAt: Date(timeIntervalSince1970: 1_800_000_000)))
    }

    @Test(
        "ten pushes with pictures and five openings, each with something new in the notification centre, are thirty at most"
    )
    func day() async throws {
        let server = server
        for number in 0..<10 {
            let library = try start(isExtension: true)
            let push = push(number, in: library)
            let arrival = Arrival(push, in: library)
            #expect(await comes { server.stored.count == 2 * number + 1 })
            // What the receipt does once the system has its content.
            #expect(arrival.conclude(push, [], isOutOfTime: false, network: .wifi))
            library.flushInExtension()
            #expect(await comes { server.stored.count == 2 * number + 2 })
        }
        let app = try start(isExtension: false)
        for number in 0..<5 {
            app.responded(to: push(number, in: app), action: Bellwether.ActionIdentifier.open)
            app.flushIfBehind()
            #expect(await comes { server.stored.count == 20 + 2 * number + 1 })
            center.post(name: Notification.Name("UIApplicationDidBecomeActiveNotification"), object: nil)
            app.sweep([push(number + 10, in: app)])
            center.post(name: Notification.Name("UIApplicationDidEnterBackgroundNotification"), object: nil)
            #expect(await comes { server.stored.count == 20 + 2 * number + 2 })
        }
        // Processes that are still there may send the same at once, here as on a phone. On a busy machine they do it
        // often, so those requests count that bring something new.
        var known: Set<Int> = []
        let requests = server.envelopes.count { envelope in
            let isNew = !known.isSuperset(of: envelope.seqs)
            known.formUnion(envelope.seqs)
            return isNew
        }
        #expect(requests <= 30)
    }
}
