import Testing
import Values

@Suite("UUID")
struct UUIDTests {
    @Test("digits in either case are the same bits, shown in lower case")
    func cases() throws {
        let upper = try #require(UUID("8F2F6F0E-6A0C-4D3A-9A52-0D6C2F6F7A11"))
        #expect(upper == UUID("8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"))
        #expect(upper.description == "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11")
        #expect((upper.high, upper.low) == (0x8f2f_6f0e_6a0c_4d3a, 0x9a52_0d6c_2f6f_7a11))
    }

    @Test("any 128 bits are a UUID, with no check of the version")
    func anyBits() {
        for _ in 0..<2000 {
            let uuid = UUID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
            #expect(UUID(uuid.description) == uuid)
        }
    }

    @Test(
        "any other text is none",
        arguments: [
            "", "8f2f6f0e6a0c4d3a9a520d6c2f6f7a11", "{8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11}",
            "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a1", "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a111",
            "8f2f6f0-e6a0c-4d3a-9a52-0d6c2f6f7a11", "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a1g",
            "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a1 ", "8f2f6f0e_6a0c_4d3a_9a52_0d6c2f6f7a11",
            "--------------------------------____", "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a1é",
        ])
    func others(text: String) {
        #expect(UUID(text) == nil)
    }
}
