import Telemetry
import Testing
import Values

@Suite("Amounts with six decimals")
struct MillionthsTests {
    private func read(_ text: String) -> Int64? { Millionths.read(text.utf8.span, below: Bounds.goalValue) }

    @Test(
        "are read exactly, and a half is rounded to the even neighbour",
        arguments: [
            ("-0.00", 0),
            ("0", 0), ("-0", 0), ("0.0", 0), ("9.99", 9_990_000), ("9.990000", 9_990_000), ("1e3", 1_000_000_000),
            ("1.5E-3", 1_500), ("0.0000005", 0), ("0.0000015", 2), ("0.0000025", 2), ("0.00000250001", 3),
            ("0.0000004999999999999999999999", 0), ("123456789012.1234565", 123_456_789_012_123_456),
            ("999999999999.999999", 999_999_999_999_999_999), ("0e99999", 0), ("1e-99999", 0), ("000.5", 500_000),
            ("0.1", 100_000), ("100e-8", 1), ("5e-7", 0), ("15e-7", 2), ("0.\(String(repeating: "0", count: 390))1", 0),
            ("1.\(String(repeating: "0", count: 500))", 1_000_000),
        ])
    func exact(_ text: String, _ millionths: Int) { #expect(read(text) == Int64(millionths)) }

    @Test(
        "what is no such number, or out of range, is refused",
        arguments: [
            "", "-", ".5", "5.", "1e", "1e+", "x", "1 ", " 1", "1,5", "+1", "0x10", "NaN", "Infinity", "-0.000001",
            "-0.0000001", "-1e-99", "\(String(repeating: "0", count: 600))5",
            "-1",
            "1000000000000", "999999999999.9999995", "1e12", "1e99999", String(repeating: "9", count: 1_000),
        ])
    func refused(_ text: String) { #expect(read(text) == nil) }

    @Test("come back from their own text")
    func text() {
        for value in [0, 1, 10, 999_999, 1_000_000, 9_990_000, 123_456_789_012_123_456] as [Int64] {
            #expect(read(value.textOfMillionths) == value)
        }
        #expect(9_990_000.textOfMillionths == "9.99" && 5.textOfMillionths == "0.000005")
    }
}
