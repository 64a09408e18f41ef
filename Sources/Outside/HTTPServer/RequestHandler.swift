/// Handles requests.
package protocol RequestHandler: Sendable {
    /// Called on an I/O thread when the head of a request has arrived. All other clients of that thread wait until it
    /// returns, so it must not block.
    ///
    /// It must lead to one `respond` of the exchange. The body, if it is to be read, is read at once if this returns
    /// `readBody`, or later with the exchange's `readBody`. Until then, the connection is parked.
    func begin(_ head: RequestHead, _ exchange: Exchange) -> NextStep
}

/// What an I/O thread does with a request when its handler has seen the head.
package enum NextStep: Sendable {
    /// Nothing: the handler has answered, or it will answer or ask for the body, from any thread.
    case wait
    /// Reads the body as `Exchange.readBody` does, without a detour through the mailbox.
    case readBody(upTo: Int, then: @Sendable ([UInt8]) -> Void)
}
