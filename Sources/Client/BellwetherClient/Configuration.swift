public import Foundation

extension Bellwether {
    /// Where events are sent, where they wait, and what the library does by itself.
    public struct Configuration: Sendable {
        /// The server's address, such as `https://bellwether.example.com`. Nothing is sent to an `http` address, unless
        /// it is on the device itself (`http://127.0.0.1:8080`, as in the simulator).
        public var server: URL
        /// The app's write key. It ships with the app and allows nothing but writing.
        public var writeKey: String
        /// The directory in which events wait. Only the library uses it.
        ///
        /// The app and its extensions must use the same directory, in the container of an App Group. Otherwise their
        /// events seem to come from two installs.
        public var directory: URL
        /// The version of the app. The default is the bundle's version.
        public var appVersion: String?
        /// Where your own names are in a payload.
        public var payloadKeys = PayloadKeys()
        /// Which media your service extension leaves out on purpose, so that they do not count as failed.
        public var mediaRules = MediaRules()

        /// Whether this process records events from the start. To remember a person's choice for the app and all its
        /// extensions, use ``Bellwether/optOut(_:)``.
        public var isRecording = true
        /// Whether the library reads the notification settings and the notification centre whenever the app comes to
        /// the front: it records what arrived, and when somebody changed what notifications may do.
        public var observesSettings = true
        /// Whether the goal `app_open` is recorded when the app comes to the front, at most once in 30 minutes.
        public var recordsAppOpen = false
        /// Whether a notification's summary argument is recorded. In a messenger it is often the sender's name, so the
        /// default is false.
        public var recordsSummaryArgument = false

        /// Whether an app sends events without being asked: some seconds after an event was recorded, and when it goes
        /// to the background. An extension sends as ``extensionSeconds`` says, whatever stands here.
        public var deliversByItself = true
        /// How many seconds a recorded event waits for others, so that they are sent together.
        public var flushInterval: TimeInterval = 3
        /// How many events one request carries at most, from 1 to 1,000.
        public var batchSize = 1000
        /// For how many seconds at most an extension sends what it has just recorded. So receipts also arrive from
        /// phones on which nobody opens the app any more. With 0 it leaves the sending to the app.
        public var extensionSeconds: TimeInterval = 2
        /// Whether events are sent over networks that the system calls expensive, such as mobile data, and in Low Data
        /// Mode. If not, they wait for another network. This works on Apple's systems only.
        public var usesExpensiveNetworks = true

        /// How many bytes may wait. Beyond that, the oldest events are dropped, and the server is told how many.
        public var maximumBytes = 8 << 20
        /// How many days an event may wait.
        public var maximumDays = 90
        /// What the library prints by itself.
        public var log = Log.nothing

        /// How long to wait after a failed delivery: `first` is the maximum in seconds after the first failure. It
        /// doubles up to `longest`. For tests, which cannot take days.
        package var backoff: (first: TimeInterval, longest: TimeInterval) = (2, 600)

        /// How many seconds a recording method waits for other processes. For tests, which run on busy machines.
        package var patience: TimeInterval = 1

        /// Sets where events are sent and where they wait.
        public init(server: URL, writeKey: String, directory: URL) {
            self.server = server
            self.writeKey = writeKey
            self.directory = directory
        }
    }

    /// What the library prints by itself, through `NSLog`.
    public enum Log: String, Sendable {
        /// Nothing.
        case nothing
        /// Each ``Diagnostic``.
        case problems
        /// Each diagnostic, each recorded event by its type and id, and each delivery's result. For development.
        case debug
    }

    /// When notifications show their content.
    public enum Previews: String, Sendable {
        /// On a locked device, too.
        case always
        /// Never.
        case never
        /// While the device is unlocked.
        case whenAuthenticated = "when_authenticated"
    }

    /// The person's notification permission.
    public enum Authorization: String, Sendable {
        /// The person allowed notifications.
        case authorized
        /// Notifications arrive quietly; nobody was asked yet.
        case provisional
        /// Allowed for a limited time, as in an app clip.
        case ephemeral
        /// The person refused.
        case denied
        /// Nobody was asked yet.
        case notDetermined = "not_determined"
    }
}
