import Testing
import Values

@testable import Sends

@Suite("Reading FCM's export")
struct FCMExportTests {
    private func read(_ line: String) throws -> FCMExportRow { try FCMExportReader().read(Array(line.utf8)) }

    @Test("a row is read as BigQuery writes it, numbers as strings or not")
    func rows() throws {
        var expected = FCMExportRow(
            event: "MESSAGE_ACCEPTED", eventAt: try #require(Timestamp(rfc3339: "2026-11-20T09:30:10.123456Z")))
        (expected.messageID, expected.instanceID) = ("1732181410001", "fid-a")
        (expected.messageType, expected.sdkPlatform, expected.appName) = ("DISPLAY_NOTIFICATION", "IOS", "com.shop")
        (expected.projectNumber, expected.timeToLive, expected.bulkID) = (123, 2_419_200, 7_000_000_000_000_000_001)
        (expected.collapseKey, expected.priority, expected.topic) = ("c", "high", "news")
        expected.analyticsLabel = "sale"
        for (number, bulk) in [(#""123""#, #""7000000000000000001""#), ("123", "7000000000000000001")] {
            let row = try read(
                #"""
                {"event_timestamp":"2026-11-20 09:30:10.123456 UTC","project_number":\#(number),"message_id":"1732181410001",
                "instance_id":"fid-a","message_type":"DISPLAY_NOTIFICATION","sdk_platform":"IOS","app_name":"com.shop",
                "collapse_key":"c","priority":"high","ttl":"2419200","topic":"news","bulk_id":\#(bulk),
                "event":"MESSAGE_ACCEPTED","analytics_label":"sale","device_recently_active":true}
                """#.replacing("\n", with: ""))
            #expect(row == expected)
        }
        #expect(
            try read(#"{"event":"QUOTA_EXCEEDED","event_timestamp":"2026-11-20 09:30:10 UTC","message_id":null}"#)
                .messageID == "")
        #expect(try read(#"{"event":"E","event_timestamp":1795167010,"message_id":17}"#).messageID == "17")
    }

    @Test(
        "times are read in every form in which BigQuery's tools write them",
        arguments: [
            (#""2026-11-20 09:30:10.123 UTC""#, "2026-11-20T09:30:10.123Z"),
            (#""2026-11-20 09:30:10""#, "2026-11-20T09:30:10Z"),
            (#""2026-11-20T09:30:10.123456Z""#, "2026-11-20T09:30:10.123456Z"),
            (#""2026-11-20 16:30:10+07""#, "2026-11-20T09:30:10Z"),
            (#""2026-11-20 16:30:10.5+07:00""#, "2026-11-20T09:30:10.5Z"),
            (#""2026-11-20 04:30:10-05""#, "2026-11-20T09:30:10Z"),
            ("1795167010.123456", "2026-11-20T09:30:10.123456Z"),
            (#""1.795167010123456E9""#, "2026-11-20T09:30:10.123456Z"), ("1795167010123", "2026-11-20T09:30:10.123Z"),
            (#""1795167010123456""#, "2026-11-20T09:30:10.123456Z"),
        ])
    func times(json: String, time: String) throws {
        #expect(try read(#"{"event":"E","event_timestamp":\#(json)}"#).eventAt == Timestamp(rfc3339: time))
    }

    @Test("a line that is no row says why")
    func faults() {
        let long = String(repeating: "x", count: 257)
        for (line, complaint) in [
            ("nonsense", "it is not JSON: a value is expected here (byte 0)"),
            ("", "it is not JSON: there is nothing (byte 0)"),
            (#"[{"event":"E"}]"#, "it is an array"), ("7", "it is a number, not an object"), ("{}", "it has no event"),
            (#"{"event":""}"#, "it has no event"), (#"{"event":{}}"#, "event is an object, not a string"),
            (#"{"event":"E"}"#, "it has no event_timestamp"),
            (#"{"event":"E","event_timestamp":"soon"}"#, "event_timestamp is not a time"),
            (#"{"event":"E","event_timestamp":"1999-12-31 23:59:59 UTC"}"#, "event_timestamp is not a time"),
            (#"{"event":"E","event_timestamp":-5}"#, "event_timestamp is not a time"),
            (#"{"event":"E","event_timestamp":1795167010,"message_id":"\#(long)"}"#, "message_id has 257 bytes"),
            (#"{"event":"E","event_timestamp":1795167010,"instance_id":"a\u0000"}"#, "instance_id holds"),
            (#"{"event":"E","event_timestamp":1795167010,"bulk_id":"x"}"#, "bulk_id is not a whole number"),
            (#"{"event":"E","event_timestamp":1795167010,"ttl":1e400}"#, "it contains a value that cannot be stored"),
            ("{\"event\":\"" + String(repeating: "y", count: 256 * 1024) + "\"}", "it is longer than 262144 bytes"),
        ] {
            let fault = #expect(throws: FCMExportReader.Fault.self) { _ = try read(line) }
            #expect(fault?.description.hasPrefix(complaint) == true, "\(line.prefix(60)): \(fault?.description ?? "")")
        }
    }
}
