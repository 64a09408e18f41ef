internal import Accounts
package import Values

/// The two halves of an experiment: installs that are left without its pushes, and installs that get them.
package enum Arm: String, Sendable, CaseIterable { case control, treated }

/// The rule by which senders and this program tell the arm of an install, each by itself: no list of people changes
/// hands. Examples/vectors/arms.json has test vectors.
package struct ArmRule: Sendable, Equatable {
    package let share: ControlShare
    package let salt: String

    package init(_ share: ControlShare, salt: String) {
        (self.share, self.salt) = (share, salt)
    }

    package func arm(of install: UUID) -> Arm {
        Self.place(of: install, salt: salt) < share.threshold ? .control : .treated
    }

    /// The first eight bytes, the highest first, of SHA-256(salt ‖ ":" ‖ install id in lower case).
    package static func place(of install: UUID, salt: String) -> UInt64 {
        SHA256(of: "\(salt):\(install)".utf8).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 128 bits from the system's generator.
    package static func makeSalt() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in String(generator.next(), digits: 16, radix: 16) }.joined()
    }
}

/// How much of the installs is in the control arm: a percentage over 0 and under 100, to six decimals.
package struct ControlShare: Sendable, Equatable {
    /// In millionths of a percent.
    private let parts: UInt64

    private static let whole: UInt64 = 100_000_000

    /// Nil for what is no such percentage.
    package init?(percent: Double) {
        guard percent > 0, percent < 100 else { return nil }
        let parts = UInt64((percent * 1_000_000).rounded())
        guard (1..<Self.whole).contains(parts) else { return nil }
        self.parts = parts
    }

    /// `parts` / `whole` · 2^64, rounded up: whole numbers below the one are below the other.
    package var threshold: UInt64 {
        let (quotient, remainder) = Self.whole.dividingFullWidth((parts, 0))
        return remainder == 0 ? quotient : quotient + 1
    }

    /// The same with the highest byte first, as the database compares it.
    var thresholdBytes: [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: threshold >> UInt64($0)) }
    }

    /// As people write it, without a sign: `12.5`.
    package var text: String { parts.textOfMillionths }
}
