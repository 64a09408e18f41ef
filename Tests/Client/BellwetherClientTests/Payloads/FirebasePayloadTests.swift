import Telemetry
import Testing
import Values

@testable import BellwetherClient

/// Shapes as Firebase's own tests of its analytics on Apple platforms have them.
@Suite("Payloads of Firebase Cloud Messaging")
struct FirebasePayloadTests {
    private let campaign = #"""
        { "aps": { "alert": { "title": "Sale", "body": "to check the reporting format" }, "mutable-content": 1 },
          "gcm.message_id": "0:1522880049414338%944841cd944841cd", "gcm.n.e": "1",
          "google.c.a.c_id": "575315420755741863", "google.c.a.c_l": "Hello World", "google.c.a.e": "1",
          "google.c.a.ts": "1522880044", "google.c.a.udt": "0", "google.c.a.m_l": "developer's customized label",
          "google.c.fid": "c5Qp5Y0yeU27mxFtvR2ubW", "google.c.sender.id": "179416245805", "from": "179416245805",
          "fcm_options": { "image": "https://example.com/sale.jpg" } }
        """#

    @Test("a campaign of the console: message id as spelled, campaign by its number, label, time of sending")
    func consoleCampaign() throws {
        let phone = Phone()
        let notification = try phone.notification(of: campaign, request: .init(identifier: "req-1"))
        #expect(
            notification
                == Telemetry.Notification(
                    fcmMessageID: "0:1522880049414338%944841cd944841cd", id: "req-1", campaign: "575315420755741863",
                    analyticsLabel: "developer's customized label", origin: .remote, alert: true,
                    sentAt: Timestamp(microseconds: 1_522_880_044_000_000)))
        #expect(notification.key == "1522880049414338")
        #expect(try phone.events()[0].extraText == #"{"notification":{"campaign_name":"Hello World"}}"#)
        #expect(try phone.push(campaign).media == MediaAddress("https://example.com/sale.jpg"))
    }

    @Test("a campaign goes by the name that was given to it, if the app wants it so")
    func campaignByName() throws {
        var keys = BellwetherClient.Bellwether.PayloadKeys()
        keys.campaign = ["google.c.a.c_l"]
        #expect(try Phone(keys: keys).notification(of: campaign).campaign == "Hello World")
    }

    @Test("a message to a topic bears the topic's name; the number of a sender is none")
    func topic() throws {
        let toTopic = #"{"aps":{"alert":"to check"},"gcm.message_id":"0:1%1","from":"/topics/news"}"#
        #expect(try Phone().notification(of: toTopic).topic == "news")
        #expect(try Phone().notification(of: campaign).topic == nil)
    }

    @Test("a silent message wakes the app, also where its flag is a text, and shows nothing")
    func silent() throws {
        let phone = Phone()
        let silent = try phone.push(
            #"{"aps":{"content-available":"1"},"gcm.message_id":"0:1522880049414338%944841cd944841cd","key":"value"}"#)
        phone.bellwether.received(silent, .background(.newData))
        let event = try #require(phone.events().first)
        #expect(event.interaction == .received(Receipt(via: .background, fetchResult: .newData)))
        #expect(event.notification.alert == false)
        #expect(event.notification.origin == .remote)
    }

    @Test("a time of sending that each device takes in its own zone is no time of sending")
    func localTime() throws {
        let text = #"{"aps":{"alert":"x"},"gcm.message_id":"0:1%1","google.c.a.ts":"1522880044","google.c.a.udt":"1"}"#
        #expect(try Phone().notification(of: text).sentAt == nil)
    }

    @Test("values of other types than Firebase's are passed over, and numbers read as names")
    func strangeTypes() throws {
        let notification = try Phone().notification(
            of: #"""
                { "aps": { "alert": "x" }, "gcm.message_id": 17, "google.c.a.c_id": 575315420755741863,
                  "google.c.a.c_l": ["x"], "google.c.a.m_l": {"a":1}, "google.c.a.ts": 0, "from": 17, "fcm_options": "x" }
                """#)
        #expect(notification.fcmMessageID == "17")
        #expect(notification.campaign == "575315420755741863")
        #expect(notification.analyticsLabel == nil)
        #expect(notification.sentAt == nil)
    }
}
