import Foundation
import Testing
import Values

@Suite("Base64")
struct Base64Tests {
    @Test("base64 is that of RFC 4648")
    func base64() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            #expect(Base64.encode(Array(text.utf8)) == code && Base64.decode(code) == Array(text.utf8))
        }
        for wrong in ["Zg=", "Zg", "Z===", "Zg==Zg==", "Z g="] { #expect(Base64.decode(wrong) == nil) }
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
    }
}
