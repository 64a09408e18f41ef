import Foundation
import Testing

@testable import BellwetherClient

@Suite("Payload dictionaries are read, and events written, whatever is in them")
struct JSONValueTests {
    private func text(_ value: JSONValue) -> String {
        var bytes: [UInt8] = []
        value.write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("values of Swift and of Foundation are the same")
    func kinds() throws {
        let object: [AnyHashable: Any] = ["a": 1]
        for (value, expected) in [
            ("x", JSONValue.text("x")), (1, .integer(1)), (Int64(1) << 60, .integer(1 << 60)), (1.5, .real(1.5)),
            (UInt8(7), .integer(7)), (UInt64.max, .real(0x1p64)), (Float(0.5), .real(0.5)),
            (NSNumber(value: 5), .integer(5)),
            (NSNumber(value: 5.5), .real(5.5)), (NSNull(), .null), (Date(), .null),
            (Data([1]), .null),
            ([1, "x"] as [Any], .list([.integer(1), .text("x")])), (object, .object([.init("a", .integer(1))])),
            ([7: "x"] as [AnyHashable: Any], .object([])),
        ] as [(Any, JSONValue)] {
            #expect(JSONValue(reading: value) == expected)
        }
        #expect(JSONValue(reading: true).isOn && JSONValue(reading: 1).isOn && JSONValue(reading: "1").isOn)
        #expect(!JSONValue(reading: false).isOn && !JSONValue(reading: 0).isOn && !JSONValue(reading: "0").isOn)
    }

    @Test("a payload nested without end is read as deep as anybody looks")
    func depth() {
        var value: Any = "x"
        for _ in 0..<500 { value = [value] }
        var read = JSONValue(reading: value)
        var levels = 0
        while let inner = read.list?.first {
            read = inner
            levels += 1
        }
        #expect(read == .null && levels == JSONValue.levels)
    }

    @Test("what is written is JSON, whatever characters and numbers it is made of")
    func writing() throws {
        let nasty = "quote \" backslash \\ newline \n nul \0 bell \u{7} emoji 🎈 line\u{2028}"
        let value = JSONValue.object([
            .init(nasty, .text(nasty)),
            .init("numbers", .list([.integer(.min), .real(0.1), .real(.nan), .real(1e300)])),
            .init("flags", .list([.flag(true), .flag(false), .null])), .init("empty", .object([])),
        ])
        let parsed = try #require(
            JSONSerialization.jsonObject(with: Data(text(value).utf8)) as? [String: Any])
        #expect(parsed[nasty] as? String == nasty)
        #expect((parsed["numbers"] as? [Any])?.count == 4)
        #expect(text(value).contains(#""numbers":[-9223372036854775808,0.1,null,1e+300]"#))
        #expect(text(value).hasSuffix(#""flags":[true,false,null],"empty":{}}"#))
    }
}
