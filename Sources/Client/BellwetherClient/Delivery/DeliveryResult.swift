public import Foundation

extension Bellwether {
    /// The result of a delivery.
    public enum DeliveryResult: Hashable, Sendable {
        /// No events wait any more.
        case delivered
        /// The network or the server does not work now. Try again at this time of the device's clock.
        case waiting(until: Date)
        /// Time ran out, or the task was cancelled, before everything was sent.
        case outOfTime
        /// The server does not know the write key. Nothing is sent for six hours, unless the app restarts.
        case keyRefused
        /// The server's address is neither https nor on this device, so nothing is sent.
        case insecureServer
        /// The queue cannot be read now.
        case unavailable
    }
}

/// Within the library, where nothing else has this name.
typealias DeliveryResult = Bellwether.DeliveryResult
