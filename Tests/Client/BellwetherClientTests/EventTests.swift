import Foundation
import Telemetry
import Testing
import Values

@testable import BellwetherClient

@Suite("Ids and times of events")
struct EventTests {
    @Test("an event is written in one line, its members always in the same order")
    func draft() throws {
        let phone = Phone()
        let push = try phone.push(
            #"{"aps":{"alert":"x","category":"NEWS"},"gcm.message_id":"0:1%1"}"#, request: .init(identifier: "r"))
        phone.bellwether.responded(to: push, action: "com.apple.UNNotificationDefaultActionIdentifier", launch: .cold)
        let draft = try #require(phone.drafts.first)
        let notification = #"{"fcm_message_id":"0:1%1","id":"r","category":"NEWS","origin":"remote","alert":true}"#
        #expect(
            String(decoding: draft.json(seq: 17), as: UTF8.self) == """
                {"id":"\(draft.id)","type":"notification.opened","at":"2026-11-20T09:30:10.001Z","seq":17,\
                "notification":\(notification),"launch":"cold"}
                """)
    }

    @Test("new ids are of version 7, begin with the time and never repeat")
    func newIDs() throws {
        let moment = Moment(Date(timeIntervalSince1970: 1_795_167_010.001))
        let ids = (0..<1000).map { _ in EventID(at: moment) }
        #expect(Set(ids).count == 1000)
        for id in ids {
            let digits = Array("\(id)")
            #expect(digits.count == 36 && digits[14] == "7" && "89ab".contains(digits[19]))
        }
        #expect(UInt64("\(ids[0])".replacing("-", with: "").prefix(12), radix: 16) == 1_795_167_010_001)
    }

    @Test("derived ids are of version 8, the same for ever, and others for other words")
    func derivedIDs() {
        #expect("\(EventID(deriving: "a", "b"))" == "\(EventID(deriving: "a", "b"))")
        #expect(EventID(deriving: "ab", "c") != EventID(deriving: "a", "bc"))
        #expect(EventID(deriving: "a") != EventID(deriving: "a", ""))
        let many = Set((0..<20_000).map { "\(EventID(deriving: "notification.received", "key-\($0)"))" })
        #expect(many.count == 20_000)
        #expect(many.allSatisfy { $0.dropFirst(14).first == "8" })
        // Frozen: a phone that was updated must derive what it derived before.
        #expect("\(EventID(deriving: "frozen"))" == "78cf9ec8-6557-80ca-8f33-205b40fcdf98")
    }

    @Test("times are RFC 3339 to the millisecond, also where a clock stands in no year that the service takes")
    func times() throws {
        func text(_ seconds: TimeInterval) -> String { "\(Moment(Date(timeIntervalSince1970: seconds)))" }
        #expect(text(1_795_167_010.001) == "2026-11-20T09:30:10.001Z")
        #expect(text(951_782_400) == "2000-02-29T00:00:00.000Z")
        #expect(text(946_684_800) == "2000-01-01T00:00:00.000Z")
        #expect(text(4_102_444_799.9996) == "2099-12-31T23:59:59.999Z")
        #expect(text(0) == "2000-01-01T00:00:00.000Z")
        #expect(text(86_400) == "2000-01-02T00:00:00.000Z")
        #expect(text(-5e15) == "2000-01-01T00:00:00.000Z")
        #expect(text(5e15) == "9999-12-31T23:59:59.999Z")
        for days in stride(from: 11_000, to: 2_900_000, by: 997) {
            let seconds = TimeInterval(days) * 86_400 + 3661.5
            #expect(Timestamp(rfc3339: text(seconds))?.microseconds == Int64(seconds * 1_000_000))
        }
    }

    @Test("a phone whose battery ran flat records and sends at times whose distance is true")
    func flatBattery() throws {
        let phone = Phone()
        phone.set(clock: Date(timeIntervalSince1970: 3600))
        phone.bellwether.contentExtension(showed: try phone.push("{}", request: .init(identifier: "r")))
        let at = try #require(phone.events().first).deviceAt
        phone.wait(7200)
        let sentAt = try #require(Timestamp(rfc3339: "\(phone.bellwether.clock.now)"))
        #expect(sentAt - at == 7_200_000_000)
    }
}
