import ServiceRuntime
import Testing

@Suite("From a number with a fraction to an integer")
struct SaturatingTests {
    @Test("whatever the number is, the nearest integer that there is")
    func nearest() {
        #expect(Int(saturating: 1.9) == 1 && Int(saturating: -1.9) == -1 && Int(saturating: -0.0) == 0)
        #expect(Int(saturating: .infinity) == .max && Int(saturating: -.infinity) == .min && Int(saturating: .nan) == 0)
        #expect(Int(saturating: 1e306) == .max && Int(saturating: -1e306) == .min)
        // The first number that does not fit, and the last that does.
        #expect(Int64(saturating: 9_223_372_036_854_775_808.0) == .max)
        #expect(Int64(saturating: 9_223_372_036_854_774_784.0) == 9_223_372_036_854_774_784)
        #expect(Int64(saturating: -9_223_372_036_854_775_808.0) == .min)
        #expect(Int32(saturating: 2_147_483_646.5) == 2_147_483_646 && Int32(saturating: 2_147_483_647.5) == .max)
        #expect(UInt8(saturating: -1) == 0 && UInt8(saturating: 255.9) == 255 && UInt8(saturating: 1e9) == 255)
    }
}
