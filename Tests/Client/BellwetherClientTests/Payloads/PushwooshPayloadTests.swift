import Telemetry
import Testing
import Values

@testable import BellwetherClient

private let onePage = #"{"pages":[{"image":"https://example.com/1.jpg","duration":3}]}"#

/// Shapes as the tests of Pushwoosh's iOS SDK 7.0.46 have them, and its reading of hashes and stories.
@Suite("Payloads of Pushwoosh")
struct PushwooshPayloadTests {
    @Test("the message hash names the delivery, and the number in it the campaign")
    func messageHash() throws {
        let notification = try Phone().notification(
            of: #"{"aps":{"alert":"hi"},"pw_msg":"1","p":"_1C_2_a-1-c","u":"{\"campaign\":\"own\"}"}"#,
            request: .init(identifier: "9E07F4F2"))
        #expect(notification.deliveryID == "_1C_2_a-1-c")
        // 1C in base 62: digits, small letters, capitals.
        #expect(notification.campaign == "100")
        #expect(notification.key == "_1C_2_a-1-c")
    }

    @Test(
        "a short hash, campaign zero, and a campaign beyond any number name no campaign",
        arguments: [
            "BF", "_0_2_a-1", "_zzzzzzzzzzzzzzzz_2_a-1", "_!_2_a", "__2_a",
        ])
    func noCampaign(hash: String) throws {
        let notification = try Phone().notification(of: #"{"aps":{},"pw_msg":"1","p":"\#(hash)"}"#)
        #expect(notification.deliveryID == hash)
        #expect(notification.campaign == nil)
    }

    @Test("a key p without pw_msg is the app's own affair")
    func foreignP() throws {
        let notification = try Phone().notification(
            of: #"{"aps":{"alert":"x"},"p":"_1C_2_a-1"}"#, request: .init(identifier: "r"))
        #expect(notification.deliveryID == nil)
    }

    @Test("keys of one's own lead into custom data, be it an object or a text of JSON")
    func ownKeys() throws {
        var keys = BellwetherClient.Bellwether.PayloadKeys()
        keys.campaign = ["u.marketing.campaign", "campaign.id", "campaign"]
        keys.variant = ["userdata.variant"]
        keys.deliveryID = ["uuid"]
        keys.sentAt = ["sent"]
        let asText = try Phone(keys: keys).notification(
            of: #"""
                { "aps": { "alert": "x" }, "u": "{\"marketing\":{\"campaign\":\"spring\"}}", "campaign": "x",
                  "userdata": { "variant": 2 }, "uuid": "d-1", "sent": 1795167010123, "p": "_1_2_a", "pw_msg": "1" }
                """#)
        #expect(asText.campaign == "spring")
        #expect(asText.variant == "2")
        #expect(asText.deliveryID == "d-1")
        #expect(asText.sentAt == Timestamp(microseconds: 1_795_167_010_123_000))
        let dotted = try Phone(keys: keys).notification(of: #"{"campaign.id":"a","campaign":"b","uuid":"d-1"}"#)
        #expect(dotted.campaign == "a")
        let broken = try Phone(keys: keys).notification(of: #"{"u":"{\"marketing\":","campaign":"b","uuid":"d-1"}"#)
        #expect(broken.campaign == "b")
    }

    @Test(
        "a story stands at the root, or in custom data as an object or a text",
        arguments: [
            #"{"pw_stories":\#(onePage)}"#, #"{"u":{"pw_stories":\#(onePage)}}"#,
            #"{"userdata":{"pw_stories":\#(onePage)}}"#,
            #"{"u":"{\"pw_stories\":{\"pages\":[{\"image\":\"https://example.com/1.jpg\",\"duration\":3}]}}"}"#,
            #"{"pw_stories":"garbage","u":{"pw_stories":\#(onePage)}}"#,
            #"{"pw_stories":\#(onePage),"u":{"pw_stories":{"pages":[]}}}"#,
        ])
    func places(json: String) throws {
        let story = try Phone().push(json).story
        #expect(story.pages.map(\.duration) == [3000])
        #expect(story.declared == 1 && story.fault == nil)
    }

    @Test("a page without a valid image is dropped, durations are bounded, and of links only scheme and host stay")
    func pages() throws {
        let story = try Phone().push(
            #"""
            { "pw_stories": { "pages": [
                { "duration": 3.0 }, { "image": 12345 }, { "image": "not a url with spaces" },
                { "image": "https://example.com/1.jpg", "duration": 7.0, "link": "MyApp://Sale/today?user=17" },
                { "image": "https://example.com/2.jpg", "link": "example.com/sale" },
                { "image": "https://example.com/3.jpg", "duration": 0 },
                { "image": "https://example.com/4.jpg", "duration": 1e308 },
                { "image": "https://example.com/5.jpg", "duration": "7" } ] } }
            """#
        ).story
        #expect(story.declared == 8)
        #expect(story.pages.map(\.duration) == [7000, 5000, 5000, 30000, 5000])
        #expect(story.pages[0].linkScheme == "myapp" && story.pages[0].linkHost == "sale")
        #expect(story.pages[1].linkScheme == nil && story.pages[1].linkHost == nil)
    }

    @Test(
        "what is wrong with a story is told from its payload",
        arguments: [
            (#"{"aps":{"alert":"hi"}}"#, FallbackReason.missing), (#"{"u":"plain words"}"#, .missing),
            (#"{"pw_stories":"garbage"}"#, .malformed), (#"{"pw_stories":{"pages":"nope"}}"#, .malformed),
            (#"{"pw_stories":{}}"#, .malformed), (#"{"u":"{\"pw_stories\":{\"pages\":["}"#, .malformed),
            (#"{"pw_stories":{"pages":[{"image":"https://example.com/1.jpg"},7]}}"#, .malformed),
            (#"{"pw_stories":{"pages":[]}}"#, .noValidPage),
            (#"{"pw_stories":{"pages":[{"image":"x"}]}}"#, .noValidPage),
        ])
    func faults(json: String, reason: FallbackReason) throws {
        let phone = Phone()
        phone.bellwether.story(of: try phone.push(json, request: .init(identifier: "r"))).fallbackShown()
        #expect(try phone.events().map(\.interaction) == [.fallbackShown(reason: reason)])
    }
}
