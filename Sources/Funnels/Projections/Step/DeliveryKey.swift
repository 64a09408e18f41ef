package import Values

/// The number by which a delivery's row is found. Bits from the highest: 23 for the time, 16 for the notification key,
/// 24 for the whole name.
///
/// A message id of FCM begins with the seconds since 1970 in ten digits. The time bits hold them in units of 64 s, so
/// that rows of the same time share pages of the index. Other ids use a hash instead. Functions of PostgreSQL can
/// compute the first 39 bits from the notification key, so SQL can find the deliveries of a message
/// (`sends.fcm_campaigns`). Anybody else can compute them, too, and choose texts that have the same ones.
///
/// The last 24 bits are a hash with the secret of the generation. Nobody outside can choose them: of n deliveries that
/// share the first 39 bits on purpose, n / 2^24 have the same number, which is less than one of sixteen million.
///
/// There are more names than numbers: a number leads to a few rows, and the full name decides among them.
package enum DeliveryKey {
    package static func of(_ name: Delivery.Name, secret: UUID) -> Int64 {
        let message = hash(name.notificationKey)
        let time = seconds(of: name.notificationKey).map { $0 >> 6 } ?? message >> 16
        var secretly = SipHash(key: secret)
        secretly.add(name.install.high)
        secretly.add(name.install.low)
        secretly.add(UInt64(UInt32(bitPattern: name.app)))
        for byte in name.notificationKey.utf8 { secretly.add(byte) }
        return Int64((time & 0x7F_FFFF) << 40 | (message & 0xFFFF) << 24 | secretly.value & 0xFF_FFFF)
    }

    /// The number in the first ten digits; nil if there are fewer.
    private static func seconds(of key: String) -> UInt64? {
        var seconds: UInt64 = 0
        var digits = 0
        for byte in key.utf8.prefix(10) {
            guard 0x30...0x39 ~= byte else { return nil }
            seconds = seconds * 10 + UInt64(byte - 0x30)
            digits += 1
        }
        return digits == 10 ? seconds : nil
    }

    /// PostgreSQL's `hashtextextended` with the seed 0.
    package static func hash(_ text: String) -> UInt64 {
        var hash = Hash(byteCount: text.utf8.count)
        for byte in text.utf8 { hash.add(byte) }
        return hash.value
    }
}

/// Bob Jenkins' lookup3, like PostgreSQL's `hash_bytes_extended`. Hash-partitioned tables depend on it, so it will not
/// change.
private struct Hash {
    private var a: UInt32
    private var b: UInt32
    private var c: UInt32
    /// The place of the next byte within twelve.
    private var place = 0
    private var words: (UInt32, UInt32, UInt32) = (0, 0, 0)

    init(byteCount: Int) {
        a = 0x9E37_79B9 &+ UInt32(truncatingIfNeeded: byteCount) &+ 3_923_095
        (b, c) = (a, a)
    }

    mutating func add(_ byte: UInt8) {
        let part = UInt32(byte) << UInt32(place % 4 * 8)
        switch place / 4 {
        case 0: words.0 |= part
        case 1: words.1 |= part
        default: words.2 |= part
        }
        place += 1
        guard place == 12 else { return }
        a &+= words.0
        b &+= words.1
        c &+= words.2
        mix()
        place = 0
        words = (0, 0, 0)
    }

    var value: UInt64 {
        var (a, b, c) = (a &+ words.0, b &+ words.1, c)
        // The lowest byte of the last word is for the length.
        c &+= words.2 << 8
        func step(_ x: inout UInt32, _ y: UInt32, _ bits: UInt32) {
            x ^= y
            x &-= y << bits | y >> (32 - bits)
        }
        step(&c, b, 14)
        step(&a, c, 11)
        step(&b, a, 25)
        step(&c, b, 16)
        step(&a, c, 4)
        step(&b, a, 14)
        step(&c, b, 24)
        return UInt64(b) << 32 | UInt64(c)
    }

    private mutating func mix() {
        func step(_ x: inout UInt32, _ y: inout UInt32, _ z: UInt32, _ bits: UInt32) {
            x &-= y
            x ^= y << bits | y >> (32 - bits)
            y &+= z
        }
        step(&a, &c, b, 4)
        step(&b, &a, c, 6)
        step(&c, &b, a, 8)
        step(&a, &c, b, 16)
        step(&b, &a, c, 19)
        step(&c, &b, a, 4)
    }
}
