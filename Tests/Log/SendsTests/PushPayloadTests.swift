import Testing

@testable import Sends

@Suite("What a push payload says of itself")
struct PushPayloadTests {
    @Test(
        "the category is that of the member, else Apple's, else FCM's click_action, else Pushwoosh's",
        arguments: [
            (#"{"aps":{"category":"A"},"notification":{"click_action":"B"},"ios_category_custom":"C"}"#, "A"),
            (#"{"message":{"apns":{"payload":{"aps":{"category":"A"}}},"notification":{"click_action":"B"}}}"#, "A"),
            (#"{"apns":{"payload":{"aps":{"category":"A"}}},"token":"t"}"#, "A"),
            (#"{"notification":{"click_action":"B"},"to":"t","ios_category_custom":"C"}"#, "B"),
            (#"{"request":{"notifications":[{"content":"x"},{"ios_category_custom":"C"}]}}"#, "C"),
            (#"{"notifications":[{"ios_category_custom":"C"}]}"#, "C"),
            (
                #"{"request":{"notifications":[{"ios_category_custom":"C","ios_root_params":{"aps":{"category":"A"}}}]}}"#,
                "A"
            ),
            (#"{"aps":{"category":""},"ios_category_custom":"C"}"#, "C"),
            // What an activity of Android or a plug-in is called is no category.
            (
                #"{"message":{"android":{"notification":{"click_action":"OPEN"}},"data":{"click_action":"FLUTTER"}}}"#,
                nil
            ),
            (#"{"aps":{"category":["A"]}}"#, nil), (#"{"aps":"A"}"#, nil), ("{}", nil),
        ] as [(String, String?)])
    func category(payload: String, category: String?) throws {
        #expect(try send(payload: payload).category == category)
        #expect(try send(#"{"id":"s","category":"MINE","payload":\#(payload)}"#).category == "MINE")
    }

    @Test("campaign and label are read as the client library reads them, thread and topic from where they stand")
    func names() throws {
        let firebase = try send(
            payload: #"{"google.c.a.c_id":1234567,"google.c.a.m_l":"sale","aps":{"thread-id":"promo"}}"#)
        #expect(firebase.campaign == "1234567" && firebase.analyticsLabel == "sale" && firebase.thread == "promo")
        let message = try send(
            payload:
                #"{"message":{"topic":"news","fcm_options":{"analytics_label":"all"},"apns":{"fcm_options":{"analytics_label":"ios"},"payload":{"google.c.a.c_id":"9"}}}}"#
        )
        #expect(message.topic == "news" && message.analyticsLabel == "ios" && message.campaign == "9")
        let older = try send(payload: #"{"to":"/topics/weather","data":{"google.c.a.c_id":"5"}}"#)
        #expect(older.topic == "weather" && older.campaign == "5")
        #expect(try send(payload: #"{"to":"a-device"}"#).topic == nil)
        #expect(try send(payload: #"{"fcmOptions":{"analyticsLabel":"camel"}}"#).analyticsLabel == "camel")
        #expect(try send(payload: #"{"pw_msg":"1","p":"_1Z_4A_abc"}"#).campaign == "123")
        for other in [#"{"p":"_1Z_4A_abc"}"#, #"{"pw_msg":1,"p":"hash"}"#, #"{"pw_msg":1,"p":"_0_1_2"}"#] {
            #expect(try send(payload: other).campaign == nil)
        }
        #expect(try send(payload: #"{"pw_msg":1,"p":"_zzzzzzzzzzzzzzzzzz_1_2"}"#).campaign == nil)
        let long = String(repeating: "x", count: 257)
        #expect(try send(payload: #"{"google.c.a.c_id":"\#(long)"}"#).campaign == nil)
    }

    @Test("of the payload all is kept but whom it went to and what lets others send")
    func secrets() throws {
        let kept = try send(
            payload: #"""
                {"request": {"auth": "secret", "notifications": [{"content": "Hello", "devices": ["t"], "data": {"a": 1}}]},
                 "message": {"token": "t", "data": {"to": "x", "b": "2"}}, "registration_ids": ["t"]}
                """#
        ).payload
        #expect(
            kept.map { String(decoding: $0, as: UTF8.self) }
                == #"{"request":{"notifications":[{"content":"Hello","data":{"a":1}}]},"message":{"data":{"b":"2"}}}"#)
    }
}
