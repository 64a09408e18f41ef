/// What became of what was posted.
package struct PostTally: Hashable, Sendable, CustomStringConvertible {
    /// Envelopes that were answered with 200.
    package var envelopes = 0
    /// The events in them.
    package var sent = 0
    package var accepted = 0
    package var duplicate = 0
    package var rejected = 0
    /// Requests that were made again, since nothing or "later" was answered.
    package var retried = 0
    /// Events that were given up.
    package var unsent = 0

    package init() {}

    /// Whether each event that was sent has been answered for.
    package var addsUp: Bool { accepted + duplicate + rejected == sent && unsent == 0 }

    package var description: String {
        "sent \(sent) events in \(envelopes) envelopes: accepted \(accepted), duplicate \(duplicate), "
            + "rejected \(rejected); retried \(retried) requests" + (unsent > 0 ? "; gave up \(unsent) events" : "")
    }
}
