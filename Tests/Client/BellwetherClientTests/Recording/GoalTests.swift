import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("Goals")
struct GoalTests {
    private typealias Bellwether = BellwetherClient.Bellwether

    private func json(_ draft: Draft) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(draft.json(seq: 1)))
        return try #require(object as? [String: Any])
    }

    @Test("a goal is about the install; value and currency are as the service takes them")
    func members() throws {
        let phone = Phone()
        phone.bellwether.reached("purchase", value: 129.90, currency: "thb")
        let event = try json(try #require(phone.drafts.first))
        #expect(event["type"] as? String == "goal.reached" && event["goal"] as? String == "purchase")
        #expect(event["value"] as? String == "129.9" && event["currency"] as? String == "THB")
        #expect(event["notification"] == nil)
    }

    @Test("a goal may name the notification that led to it")
    func explicit() throws {
        let phone = Phone()
        phone.bellwether.reached("level", from: try phone.push("{}", request: .init(identifier: "r")))
        phone.bellwether.reached("level", from: try phone.push("{}"))
        let named = try phone.drafts.map { (try json($0)["notification"] as? [String: Any])?["id"] as? String }
        #expect(named == ["r", nil])
    }

    @Test(
        "values are rounded to six decimals, half to even",
        arguments: [
            ("0", "0"), ("-0", "0"), ("0.0000005", "0"), ("0.0000015", "0.000002"), ("1.2345675", "1.234568"),
            ("1.2345665", "1.234566"), ("999999999999.999999", "999999999999.999999"), ("12.50", "12.5"),
            ("1e-40", "0"),
        ])
    func values(text: String, expected: String) throws {
        let value = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
        #expect(GoalValue(value).text == expected)
    }

    @Test("what the service would reject is told and not recorded")
    func misused() throws {
        let phone = Phone()
        phone.bellwether.reached("")
        phone.bellwether.reached(String(repeating: "x", count: 257))
        for value: Decimal in [-1, .nan, 1_000_000_000_000, Decimal(string: "999999999999.9999999") ?? 0] {
            phone.bellwether.reached("g", value: value)
        }
        for code in ["EURO", "E1R", "€", ""] { phone.bellwether.reached("g", value: 1, currency: code) }
        #expect(phone.drafts.isEmpty && phone.reports.count(of: .misused) == 10)
    }

    @Test(
        "app_open comes at most once in half an hour, whichever process asks, and not for somebody who does not want it"
    )
    func appOpen() throws {
        let (front, scratch) = (NotificationCenter(), TemporaryDirectory())
        let file = URL(fileURLWithPath: scratch("app-open"))
        func comeToFront() {
            front.post(name: Notification.Name("UIApplicationDidBecomeActiveNotification"), object: nil)
        }
        let phone = Phone(center: front, appOpens: AppOpens(file: file))
        comeToFront()
        comeToFront()
        phone.wait(1799)
        comeToFront()
        #expect(phone.drafts.map(\.type) == [.goalReached])
        phone.wait(1)
        comeToFront()
        #expect(phone.drafts.count == 2)
        // The file outlives the process; a clock that was set back does not silence it for ever.
        let later = AppOpens(file: file)
        let last = Int64(phone.bellwether.clock.wall().timeIntervalSince1970 * 1000)
        #expect(!later.isDue(at: last + 1000) && AppOpens(file: file).isDue(at: last - 86_400_000))
        phone.wait(3600)
        phone.bellwether.isRecording = false
        comeToFront()
        #expect(phone.drafts.count == 2)
        // Also at the first launch, before anything else is on the disk.
        let new = URL(fileURLWithPath: scratch("new")).appendingPathComponent("app-open")
        #expect(AppOpens(file: new).isDue(at: last) && !AppOpens(file: new).isDue(at: last + 1000))
        let without = Phone(center: front)
        comeToFront()
        #expect(without.drafts.isEmpty)
    }
}
