public import Foundation

/// What became of a delivery.
public enum DeliveryResult: Hashable, Sendable {
    /// Nothing waits any more.
    case delivered
    /// The network or the server does not do it now; it is worth another try at this time of the device's clock.
    case waiting(until: Date)
    /// Time ran out, or the task was cancelled, before everything was sent.
    case outOfTime
    /// The server does not know the write key. Nothing is sent for six hours, unless the app starts anew.
    case keyRefused
    /// The server's address is neither https nor on this device itself: nothing is sent there.
    case insecureServer
    /// The queue cannot be read now.
    case unavailable
}
