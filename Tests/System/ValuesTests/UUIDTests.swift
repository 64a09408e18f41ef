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

    @Test("of a name, it is the one of version 5 that every library makes, whatever the length")
    func named() {
        let dns = UUID(high: 0x6ba7_b810_9dad_11d1, low: 0x80b4_00c0_4fd4_30c8)
        #expect(UUID(named: "www.example.com".utf8, in: dns).description == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
        // Padding takes one block or two.
        for (count, id) in [
            (0, "1b4db7eb-4057-5ddf-91e0-36dec72071f5"), (56, "3626e090-976f-515f-95a7-d3a479e5f76b"),
            (200, "cd3580b9-d244-586a-8077-74317319b48d"),
        ] {
            #expect(UUID(named: String(repeating: "x", count: count).utf8, in: .addresses).description == id)
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
