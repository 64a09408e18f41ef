/// What decides about requests.
package protocol RequestHandler: Sendable {
    /// Called on an I/O thread when the head of a request has arrived; all other clients of that thread wait until it
    /// returns, so it must not block.
    ///
    /// Must lead, now or later and from any thread, to one `readBody` or one `respond` of the exchange; until then the
    /// connection is parked.
    func begin(_ head: RequestHead, _ exchange: Exchange)
}
