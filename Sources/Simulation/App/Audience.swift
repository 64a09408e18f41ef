internal import Values

/// How many of an app's installs are left, and what is known of the others.
package struct Audience: Sendable {
    /// The share of installs that are dormant: the app is still there and receives pushes, and nobody ever opens it.
    package let dormant: Double
    /// Whether service extensions send receipts themselves. Otherwise receipts wait for the app to be opened.
    package let extensionSends: Bool

    package init(dormant: Double = 0, extensionSends: Bool = true) {
        (self.dormant, self.extensionSends) = (dormant, extensionSends)
    }

    /// Follows from the install, so that everybody else does the same in every audience.
    func isDormant(_ install: UUID) -> Bool { Double(Dice.mix(install.low) >> 11) * 0x1p-53 < dormant }
}
