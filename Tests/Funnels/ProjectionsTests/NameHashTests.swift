import Testing
import Values

@testable import Projections

/// Names come from outside, so tables over them must be quick whatever the names are.
@Suite("Hashes of names")
struct NameHashTests {
    @Test(
        "the keyed one is SipHash-2-4, as its authors' vectors say",
        arguments: [
            (0, 0x726F_DB47_DD0E_0E31), (1, 0x74F8_39C5_93DC_67FD), (7, 0xAB02_00F5_8B01_D137),
            (8, 0x93F5_F579_9A93_2462),
            (15, 0xA129_CA61_49BE_45E5),
        ] as [(UInt8, UInt64)])
    func vectors(length: UInt8, hash: UInt64) {
        let key = UUID(high: 0x0706_0504_0302_0100, low: 0x0F0E_0D0C_0B0A_0908)
        var bytes = SipHash(key: key)
        for byte in 0..<length { bytes.add(byte) }
        #expect(bytes.value == hash)
        var together = SipHash(key: key)
        let text = Array(0..<length)
        together.add(text.span)
        #expect(together.value == hash)
        guard length >= 8 else { return }
        var words = SipHash(key: key)
        words.add(0x0706_0504_0302_0100 as UInt64)
        for byte in 8..<length { words.add(byte) }
        #expect(words.value == hash)
    }

    @Test("differ for spellings of one text, for days of installs, and for cells that a client chooses")
    func spread() {
        let count = 4_096
        let spellings = (0..<count).map { number in
            (0..<12).map { number >> $0 & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
        }
        #expect(Set(spellings).count == 1)
        let names = spellings.map {
            Delivery.Name(app: 1, shard: 0, install: UUID(high: 1, low: 2), notificationKey: $0)
        }
        #expect(Set(names.map(\.hashValue)).count == count)
        let days = (0..<count).map { number in
            InstallDay.Name(
                app: 1, shard: 0, install: UUID(high: UInt64(number), low: 5), day: CivilDate(daysSince1970: 20_000))
        }
        #expect(Set(days.map(\.hashValue)).count == count)
        // The key in the fifth place was once multiplied and mixed into the first.
        let cells = (0..<Int32(count)).map { number in
            let mixed = (Int64(number) << 32) &* 0x9E37_79B9
            return Tally.Cell(
                app: 1, day: CivilDate(daysSince1970: 20_000), shard: 0,
                keys: Tally.Keys(
                    Int32(truncatingIfNeeded: mixed >> 32), Int32(truncatingIfNeeded: mixed), 0, 0, number, 0, 0, 0))
        }
        #expect(Set(cells.map(\.hashValue)).count == count)
    }
}
