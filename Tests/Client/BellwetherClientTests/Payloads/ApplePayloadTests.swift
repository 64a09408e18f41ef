import Foundation
import Telemetry
import Testing

@testable import BellwetherClient

/// Shapes as Apple documents them under "Generating a remote notification".
@Suite("Payloads of Apple's push service, and local notifications")
struct ApplePayloadTests {
    @Test("category, thread and level come from aps; a text in the alert is shown")
    func aps() throws {
        let notification = try Phone().notification(
            of: #"""
                { "aps": { "alert": { "title": "Game Request", "subtitle": "Five Card Draw",
                    "body": "Bob wants to play poker" }, "category": "GAME_INVITATION", "thread-id": "game-requests",
                    "interruption-level": "time-sensitive", "sound": "default", "badge": 9 }, "gameID": "12345678" }
                """#, request: .init(identifier: "req-1"))
        #expect(
            notification
                == Telemetry.Notification(
                    id: "req-1", category: "GAME_INVITATION", thread: "game-requests",
                    interruptionLevel: "time-sensitive", origin: .remote, alert: true))
    }

    @Test(
        "an alert shows something in all its forms, and in none of the empty ones",
        arguments: [
            (#""alert":"You got your emails.""#, true), (#""alert":{"loc-key":"GAME_PLAY_REQUEST_FORMAT"}"#, true),
            (#""alert":{"title-loc-key":"REQUEST"}"#, true), (#""alert":{"subtitle":"Five Card Draw"}"#, true),
            (#""alert":"""#, false), (#""alert":{"body":""}"#, false), (#""alert":{}"#, false), (#""badge":3"#, false),
            (#""alert":17"#, false), (#""alert":null"#, false), (#""content-available":1"#, false),
        ])
    func alertForms(aps: String, shows: Bool) throws {
        let notification = try Phone().notification(of: "{\"aps\":{\(aps)}}", request: .init(identifier: "r"))
        #expect(notification.alert == shows)
    }

    @Test("a summary's argument count comes with every receipt, if it is a count")
    func summary() throws {
        let phone = Phone()
        for count in ["4", "0", "-1", "2.5", "\"4\""] {
            let json = #"{"aps":{"alert":{"body":"x","summary-arg":"Bob","summary-arg-count":\#(count)}}}"#
            let push = try phone.push(json, request: .init(identifier: "r"))
            phone.bellwether.received(push, .foreground(presentation: [.list, .banner]))
        }
        let counts = try phone.events().map { event -> Int64? in
            guard case .received(let receipt) = event.interaction else { return -1 }
            #expect(receipt.presentation == [.banner, .list])
            return receipt.summaryArgumentCount
        }
        #expect(counts == [4, 0, nil, nil, nil])
    }

    @Test("what the system shows goes before what the payload says")
    func shownCategory() throws {
        let notification = try Phone().notification(
            of: #"{"aps":{"alert":"x","category":"PLAIN","thread-id":"a"}}"#,
            request: .init(identifier: "r", category: "PW_STORIES", thread: ""))
        #expect(notification.category == "PW_STORIES")
        #expect(notification.thread == "a")
    }

    @Test("a local notification is named by its identifier and the second in which it fired, too long ones as well")
    func local() throws {
        let fired = Date(timeIntervalSince1970: 1_795_167_010.9994)
        let phone = Phone()
        let daily = try phone.notification(
            of: "{}",
            request: .init(
                identifier: "daily-reminder", category: "CHORES", thread: "todo", origin: .local, deliveredAt: fired,
                showsText: true))
        #expect(
            daily
                == Telemetry.Notification(
                    deliveryID: "daily-reminder@1795167010", id: "daily-reminder", category: "CHORES", thread: "todo",
                    origin: .local, alert: true))
        let long = String(repeating: "x", count: 300)
        let request = BellwetherClient.Bellwether.Request(identifier: long, origin: .local, deliveredAt: fired)
        let named = try phone.notification(of: "{}", request: request)
        #expect(named.id == nil)
        let name = try #require(named.deliveryID)
        #expect(name.hasSuffix("@1795167010") && name.utf8.count == 43)
        #expect(try Phone().notification(of: "{}", request: request).deliveryID == name)
        #expect(phone.reports.count(of: .leftOut) == 1)
    }

    @Test("what is too long or cannot be held is left out, not cut, and the developer is told")
    func bounds() throws {
        let phone = Phone()
        let long = String(repeating: "ü", count: 129)
        let notification = try phone.notification(
            of: #"{"aps":{"alert":"x","category":"\#(long)","thread-id":"a\u0000b"},"gcm.message_id":"0:1%1"}"#,
            request: .init(identifier: String(repeating: "r", count: 256)))
        #expect(notification.category == nil)
        #expect(notification.thread == nil)
        #expect(notification.id?.utf8.count == 256)
        #expect(phone.reports.count(of: .leftOut) == 1)
    }

    @Test("a push that only a collapse id names is told to the developer, once; a unique id of any kind is enough")
    func collapseID() throws {
        var keys = BellwetherClient.Bellwether.PayloadKeys()
        keys.deliveryID = ["uuid"]
        let phone = Phone(keys: keys)
        let plain = #"{"aps":{"alert":"x"}}"#
        _ = try phone.push(plain, request: .init(identifier: "0D6C2F6F-6A0C-4D3A-9A52-8F2F6F0E7A11"))
        _ = try phone.push(plain, request: .init(identifier: "daily", origin: .local))
        _ = try phone.push(plain)
        let named = [#"{"aps":{},"uuid":"1"}"#, #"{"aps":{},"gcm.message_id":"0:1%1"}"#]
        for json in named { _ = try phone.push(json, request: .init(identifier: "score")) }
        #expect(phone.reports.count(of: .collapsed) == 0)
        for _ in 0..<2 { _ = try phone.push(plain, request: .init(identifier: "score")) }
        #expect(phone.reports.count(of: .collapsed) == 1)
    }

    @Test("of a notification without any id nothing can be told, and the developer is told that")
    func unidentified() throws {
        let phone = Phone()
        phone.bellwether.received(try phone.push(#"{"aps":{"content-available":1}}"#), .background(nil))
        #expect(phone.drafts.isEmpty)
        #expect(phone.reports.count(of: .unidentified) == 1)
    }
}
