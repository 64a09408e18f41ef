import Telemetry
import Testing

@testable import BellwetherClient

/// Hive documents its console, in which a push gets a group key, media and action buttons, and not what its server
/// makes of them. On iOS a group key can only be the thread and buttons only a category; the medium's key is the app's
/// to name.
@Suite("Pushes of Hive")
struct HivePayloadTests {
    private let push = #"""
        { "aps": { "alert": { "title": "Raid", "body": "Your party waits" }, "thread-id": "raid-group",
            "category": "ACCEPT_DECISION_CATEGORY", "mutable-content": 1 },
          "hive": { "media": "https://example.com/raid.mp4", "campaign": 4711 } }
        """#

    @Test("a group key is the thread, action buttons are the category, media are found where the app says")
    func groupMediaButtons() throws {
        var keys = BellwetherClient.Bellwether.PayloadKeys()
        keys.media = ["hive.media"]
        keys.campaign = ["hive.campaign"]
        let phone = Phone(keys: keys)
        let notification = try phone.notification(of: push, request: .init(identifier: "req-1"))
        #expect(
            notification
                == Telemetry.Notification(
                    id: "req-1", category: "ACCEPT_DECISION_CATEGORY", thread: "raid-group", campaign: "4711",
                    origin: .remote, alert: true))
        let watch = MediaWatch(try phone.push(push).media, startedAt: 0)
        let media = try #require(watch.conclude([], isOutOfTime: true, network: .cellular, at: 29.5))
        #expect(media == .init(.timedOut, kind: .video, format: "mp4", milliseconds: 29_500, network: .cellular))
    }

    @Test("its buttons are told by their place and kind, once they are registered, and by nothing but their id before")
    func buttons() throws {
        let phone = Phone()
        let push = try phone.push(push, request: .init(identifier: "req-1"))
        phone.bellwether.responded(to: push, action: "DECLINE", launch: .warm)
        phone.bellwether.register([
            .init(
                id: "ACCEPT_DECISION_CATEGORY",
                buttons: [
                    .init(id: "ACCEPT", opensApp: true, requiresAuthentication: true),
                    .init(id: "DECLINE", isDestructive: true), .init(id: "REPLY", asksForText: true),
                ])
        ])
        phone.wait(60)
        for action in ["ACCEPT", "REPLY", "UNKNOWN"] {
            phone.bellwether.responded(to: push, action: action, launch: .warm)
        }
        let taps = try phone.events().map(\.interaction)
        #expect(
            taps == [
                .actionTapped(ActionTap(actionID: "DECLINE", handledIn: .app, launch: .warm)),
                .actionTapped(
                    ActionTap(
                        actionID: "ACCEPT", actionIndex: 0, actionCount: 3, activation: .foreground, destructive: false,
                        authenticationRequired: true, textInput: false, handledIn: .app, launch: .warm)),
                .actionTapped(
                    ActionTap(
                        actionID: "REPLY", actionIndex: 2, actionCount: 3, activation: .background, destructive: false,
                        authenticationRequired: false, textInput: true, handledIn: .app, launch: .warm)),
                .actionTapped(ActionTap(actionID: "UNKNOWN", handledIn: .app, launch: .warm)),
            ])
    }
}
