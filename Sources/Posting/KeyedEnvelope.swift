package import Simulation

/// An envelope on its way, with the key of the app that sends it.
package struct KeyedEnvelope: Sendable {
    package let envelope: Envelope
    package let key: String

    package init(_ envelope: Envelope, key: String) {
        self.envelope = envelope
        self.key = key
    }
}
