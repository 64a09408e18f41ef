import Telemetry
import Testing
import Values

@Suite("Notification key and shard")
struct NotificationKeyTests {
    @Test(
        "all spellings of an FCM message id come to one, and anything else stays",
        arguments: [
            ("0:1732181410001%31bd1c96", "1732181410001"),
            ("projects/hive-prod/messages/0:1732181410001%31bd1c96", "1732181410001"),
            ("projects/hive-prod/messages/1732181410001", "1732181410001"),
            ("1732181410001", "1732181410001"),
            ("0:1732181410001%31BD1C96f9fd7ecd", "1732181410001"),
            ("projects/p/messages/a-b-c", "a-b-c"),
            ("projects/p/messages/projects/q/messages/1", "projects/q/messages/1"),
            ("projects/p/messages/", "projects/p/messages/"),
            ("projects//messages/0:1%a", "projects//messages/0:1%a"),
            ("projects/p/message/0:1%a", "projects/p/message/0:1%a"),
            ("x/projects/p/messages/0:1%a", "x/projects/p/messages/0:1%a"),
            ("0:1732181410001", "0:1732181410001"), ("0:%31bd", "0:%31bd"), ("0:12%", "0:12%"),
            ("0:12%xyz", "0:12%xyz"), ("0:12a%ff", "0:12a%ff"), ("1:12%ff", "1:12%ff"), ("0:12%ff ", "0:12%ff "),
            ("0:٣%ff", "0:٣%ff"), ("", ""),
        ])
    func normalization(raw: String, normalized: String) {
        #expect(FCMMessageID.normalized(raw) == normalized)
    }

    @Test("the key is the FCM id, else the delivery id, else the request identifier")
    func precedence() {
        #expect(Notification(fcmMessageID: "0:12%ab", deliveryID: "d", id: "i").key == "12")
        #expect(Notification(deliveryID: "d", id: "i").key == "d")
        #expect(Notification(id: "i").key == "i")
        #expect(Notification(category: "c").key == nil)
    }

    // These values are stored in every row of every log. They must never change.
    @Test(
        "the shard of an install is frozen",
        arguments: [
            ("00000000-0000-0000-0000-000000000000", 15), ("ffffffff-ffff-ffff-ffff-ffffffffffff", 3),
            ("8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11", 14), ("0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3d", 0),
            ("00000000-0000-0000-0000-000000000001", 7), ("00000001-0000-0000-0000-000000000000", 5),
            ("c9e1a7de-0b58-4f6c-8d5e-7f3a90c1b2d4", 14), ("0199f1c2-7c1e-7d0a-b1c4-3f0a6f1b2c3e", 15),
        ])
    func shard(install: String, shard: Int16) throws {
        let install = try #require(UUID(install))
        #expect(Shard.of(install, among: Shard.usual) == shard)
        // More shards divide each of them, fewer join them.
        for count in Shard.counts {
            let other = Shard.of(install, among: count)
            #expect(count < Shard.usual ? shard % count == other : other % Shard.usual == shard)
        }
    }

    @Test("installs spread evenly over the shards, whether random or counted")
    func spread() {
        var random = SystemRandomNumberGenerator()
        let counted = (0..<16_000 as Range<UInt64>).map {
            UUID(high: 0x0199_f1c2_7c1e_7d0a, low: 0x8000_0000_0000_0000 + $0)
        }
        let early = (0..<16_000 as Range<UInt64>).map { UUID(high: $0 << 20, low: 7) }
        let drawn = (0..<16_000).map { _ in UUID(high: random.next(), low: random.next()) }
        for installs in [counted, early, drawn] {
            let sizes = Dictionary(grouping: installs) { Shard.of($0, among: Shard.usual) }.mapValues(\.count)
            #expect(sizes.count == Int(Shard.usual))
            // Six standard deviations around a thousand.
            #expect(sizes.values.allSatisfy { (810...1190).contains($0) }, "\(sizes)")
        }
    }
}
