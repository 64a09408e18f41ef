package import Values

/// The number by which a delivery's row is found. Bits from the highest: 23 for the time, 16 for the notification key,
/// 24 for the whole name.
///
/// A message id of FCM begins with the seconds since 1970 in ten digits. The time bits hold them in units of 64 s, so
/// that rows of the same time share pages of the index. Other ids use a hash instead. Functions of PostgreSQL can
/// compute the first 39 bits from the notification key, so SQL can find the deliveries of a message
/// (`counted.message_delivery`). Anybody else can compute them, too, and choose texts that have the same ones.
///
/// The last 24 bits are a hash with the secret of the generation. Nobody outside can choose them: of n deliveries that
/// share the first 39 bits on purpose, n / 2^24 have the same number, which is less than one of sixteen million.
///
/// There are more names than numbers: a number leads to a few rows, and the full name decides among them.
package enum DeliveryKey {
    package static func of(_ name: Delivery.Name, secret: UUID) -> Int64 {
        of(name.notificationKey.utf8.span, install: name.install, app: name.app, secret: secret)
    }

    static func of(_ notificationKey: Span<UInt8>, install: UUID, app: Int32, secret: UUID) -> Int64 {
        let message = hash(notificationKey)
        let time = seconds(of: notificationKey).map { $0 >> 6 } ?? message >> 16
        var secretly = SipHash(key: secret)
        secretly.add(install.high)
        secretly.add(install.low)
        secretly.add(UInt64(UInt32(bitPattern: app)))
        secretly.add(notificationKey)
        return Int64((time & 0x7F_FFFF) << 40 | (message & 0xFFFF) << 24 | secretly.value & 0xFF_FFFF)
    }

    /// The number in the first ten digits; nil if there are fewer.
    private static func seconds(of key: Span<UInt8>) -> UInt64? {
        guard key.count >= 10 else { return nil }
        var seconds: UInt64 = 0
        for place in 0..<10 {
            let digit = key[place] &- 0x30
            guard digit < 10 else { return nil }
            seconds = seconds * 10 + UInt64(digit)
        }
        return seconds
    }

    /// PostgreSQL's `hashtextextended` with the seed 0.
    package static func hash(_ text: String) -> UInt64 { hash(text.utf8.span) }

    private static func hash(_ text: Span<UInt8>) -> UInt64 {
        var hash = Hash(byteCount: text.count)
        var place = 0
        while text.count - place >= 12 {
            hash.add(word(text, place), word(text, place + 4), word(text, place + 8))
            place += 12
        }
        return hash.value(
            adding: word(text, place), word(text, place + 4), word(text, place + 8))
    }

    /// Four bytes, the first one lowest; zeros beyond the end.
    private static func word(_ text: Span<UInt8>, _ start: Int) -> UInt32 {
        if text.count - start >= 4 {
            return text.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self).littleEndian
        }
        var word: UInt32 = 0
        for place in start..<max(start, text.count) { word |= UInt32(text[place]) << UInt32((place - start) * 8) }
        return word
    }
}

/// Bob Jenkins' lookup3, like PostgreSQL's `hash_bytes_extended`. Hash-partitioned tables depend on it, so it will not
/// change.
private struct Hash {
    private var a: UInt32
    private var b: UInt32
    private var c: UInt32

    init(byteCount: Int) {
        a = 0x9E37_79B9 &+ UInt32(truncatingIfNeeded: byteCount) &+ 3_923_095
        (b, c) = (a, a)
    }

    /// Adds twelve bytes.
    mutating func add(_ first: UInt32, _ second: UInt32, _ third: UInt32) {
        a &+= first
        b &+= second
        c &+= third
        mix()
    }

    /// The hash with the bytes that do not fill twelve.
    func value(adding first: UInt32, _ second: UInt32, _ third: UInt32) -> UInt64 {
        var (a, b, c) = (a &+ first, b &+ second, c)
        // The lowest byte of the last word is for the length.
        c &+= third << 8
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
