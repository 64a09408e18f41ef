/// How much a sender may tell. What is over a bound is refused by name, never cut.
package enum SendBounds {
    /// Sends of one envelope.
    package static let sends = 1000

    /// Message ids of one send.
    package static let messageIDs = 10_000

    /// Bytes of a payload, written without spaces.
    package static let payload = 32 * 1024
}
