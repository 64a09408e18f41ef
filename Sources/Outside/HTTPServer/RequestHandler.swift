/// Handles requests.
package protocol RequestHandler: Sendable {
    /// Called on an I/O thread when the head of a request has arrived. All other clients of that thread wait until it
    /// returns, so it must not block.
    ///
    /// It must lead to one `readBody` or one `respond` of the exchange, now or later, and from any thread. Until then,
    /// the connection is parked.
    func begin(_ head: RequestHead, _ exchange: Exchange)
}
