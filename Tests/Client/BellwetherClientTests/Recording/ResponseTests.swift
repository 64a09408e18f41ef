import Foundation
import ServiceRuntime
import Telemetry
import Testing

@testable import BellwetherClient

@Suite("Somebody answered a notification")
struct ResponseTests {
    private let json = #"{"aps":{"alert":"x","category":"NEWS"},"gcm.message_id":"0:1%1"}"#
    private typealias Identifier = BellwetherClient.Bellwether.ActionIdentifier
    private let phone = Phone()

    private func push() throws -> BellwetherClient.Bellwether.Push { try phone.push(json) }

    @Test("the default action opens, the dismiss action dismisses, any other is a button's")
    func kinds() throws {
        let push = try push()
        phone.bellwether.responded(to: push, action: Identifier.open, launch: .warm)
        phone.bellwether.responded(to: push, action: Identifier.dismiss)
        phone.bellwether.responded(to: push, action: "LIKE", handledBy: .contentExtension)
        #expect(
            try phone.events().map(\.interaction) == [
                .opened(launch: .warm), .dismissed,
                .actionTapped(ActionTap(actionID: "LIKE", handledIn: .contentExtension)),
            ])
    }

    @Test("the same response reported twice in a process is one event, from however many threads")
    func twice() throws {
        let push = try phone.push(json, request: .init(deliveredAt: Date(timeIntervalSince1970: 1_795_000_000)))
        let workers = (0..<4).map { _ in
            Worker(name: "delegate") { phone.bellwether.responded(to: push, action: "LIKE", launch: .warm) }
        }
        for worker in workers { worker.join() }
        phone.wait(3600)
        phone.bellwether.responded(to: push, action: "LIKE", launch: .warm)
        #expect(phone.drafts.count == 1)
        phone.bellwether.responded(to: push, action: Identifier.open, launch: .warm)
        let again = try phone.push(json, request: .init(deliveredAt: Date(timeIntervalSince1970: 1_795_000_060)))
        phone.bellwether.responded(to: again, action: "LIKE", launch: .warm)
        #expect(phone.drafts.count == 3)
    }

    @Test("a response that could not be written down is saved by its second report")
    func lost() throws {
        let push = try push()
        phone.set(recorded: .lost)
        phone.bellwether.responded(to: push, action: "LIKE")
        phone.set(recorded: .kept)
        for _ in 0..<2 { phone.bellwether.responded(to: push, action: "LIKE") }
        #expect(phone.drafts.count == 1)
    }

    @Test("a button of an open content extension can be tapped again, though not twice within a second")
    func contentExtension() throws {
        let push = try push()
        for pause in [0, 0.5, 2, 2] {
            phone.wait(pause)
            phone.bellwether.responded(to: push, action: "LIKE", handledBy: .contentExtension)
        }
        #expect(phone.drafts.count == 3)
    }

    @Test("the system's object tells an extension's responses apart: reported again an hour later it is the same one")
    func objects() throws {
        let push = try push()
        func report(_ response: NSObject, isForwarded: Bool = false) {
            phone.bellwether.contentExtension(push, answeredWith: "LIKE", isForwarded: isForwarded, as: response)
        }
        let (first, second) = (NSObject(), NSObject())
        report(first, isForwarded: true)
        #expect(phone.drafts.isEmpty)
        for _ in 0..<2 {
            report(first)
            phone.wait(3600)
        }
        #expect(phone.drafts.count == 1)
        report(second)
        report(NSObject())
        report(first)
        #expect(phone.drafts.count == 3)
        // Nobody holds these any more, and the next may lie where the last one lay.
        for _ in 0..<300 { report(NSObject()) }
        #expect(phone.drafts.count == 303)
        withExtendedLifetime((first, second)) { report(first) }
        #expect(phone.drafts.count == 303)
    }

    @Test("in the app a response is one by its object and by what it says")
    func appObjects() throws {
        let push = try push()
        let response = NSObject()
        for object in [response, response, NSObject(), nil] {
            phone.bellwether.responded(to: push, action: "LIKE", handledBy: .app, launch: .warm, as: object)
        }
        #expect(phone.drafts.count == 1)
        withExtendedLifetime(response) {}
    }

    @Test("many responses are remembered, and not more than is reasonable")
    func memory() throws {
        let push = try push()
        for number in 0..<300 { phone.bellwether.responded(to: push, action: "A\(number)", launch: .warm) }
        #expect(phone.drafts.count == 300)
        phone.bellwether.responded(to: push, action: "A299", launch: .warm)
        phone.bellwether.responded(to: push, action: "A45", launch: .warm)
        #expect(phone.drafts.count == 300)
    }

    @Test("an action without a name, or with one that nobody could store, is told to the developer")
    func strangeActions() throws {
        let push = try push()
        phone.bellwether.responded(to: push, action: "")
        phone.bellwether.responded(to: push, action: String(repeating: "x", count: 257))
        #expect(phone.drafts.isEmpty)
        #expect(phone.reports.count(of: .misused) == 2)
    }

    @Test("whether the app was running is told from what the system posts, unless the app knows better")
    func launch() throws {
        let center = NotificationCenter()
        let phone = Phone(center: center)
        let push = try phone.push(json)
        func post(_ name: String) { center.post(name: Foundation.Notification.Name(name), object: nil) }
        phone.bellwether.responded(to: push, action: "1")
        post("UIApplicationDidBecomeActiveNotification")
        phone.bellwether.responded(to: push, action: "2")
        post("UIApplicationDidEnterBackgroundNotification")
        phone.bellwether.responded(to: push, action: "3")
        phone.bellwether.responded(to: push, action: "4", launch: .cold)
        post("NSApplicationDidBecomeActiveNotification")
        phone.bellwether.responded(to: push, action: "5")
        post("NSApplicationDidResignActiveNotification")
        phone.bellwether.responded(to: push, action: "6", handledBy: .contentExtension)
        let launches = try phone.events().map { event -> Launch? in
            guard case .actionTapped(let tap) = event.interaction else { return nil }
            return tap.launch
        }
        #expect(launches == [.cold, .foreground, .warm, .cold, .foreground, nil])
    }
}
