public import Foundation

extension Bellwether {
    /// Where events go, and where they wait.
    public struct Configuration: Sendable {
        /// The server's address, such as `https://bellwether.example.com`. Nothing is sent to an `http` address, unless it is
        /// that of the device itself (`http://127.0.0.1:8080`, as in the simulator).
        public var server: URL
        /// The app's write key. It ships with the app and can do nothing but write.
        public var writeKey: String
        /// The directory in which events wait, of the library's alone.
        ///
        /// The app and its extensions must give the same one, in the container of an App Group: otherwise what they tell
        /// seems to come from two installs.
        public var directory: URL
        /// The version of the app; else the bundle's.
        public var appVersion: String?
        /// Where in a payload your own names for things stand.
        public var payloadKeys = PayloadKeys()
        /// Whether the doors record from the start.
        public var isRecording = true
        /// Whether deliveries begin by themselves, some seconds after something was recorded; else in an app, and not in
        /// an extension, which lives for moments and calls ``Bellwether/flush(within:)``.
        public var deliversByItself: Bool?
        /// How many bytes may wait. When there are more, the oldest events go, and the server is told how many.
        public var mostBytes = 8 << 20
        /// How many days an event may wait.
        public var mostDays = 90
        /// How long to wait after a delivery that failed: at most so many seconds the first time, doubling to so many. For
        /// tests, which have no days.
        package var backoff: (first: TimeInterval, longest: TimeInterval) = (2, 600)

        /// How many seconds a door waits for other processes. For tests, which run where the machine is busy.
        package var patience: TimeInterval = 1

        /// Describes where events go and where they wait.
        public init(server: URL, writeKey: String, directory: URL) {
            self.server = server
            self.writeKey = writeKey
            self.directory = directory
        }
    }

    /// What the person allowed the app to show.
    public enum Authorization: String, Sendable {
        case authorized, provisional, ephemeral, denied
        case notDetermined = "not_determined"
    }
}
