package import Values

/// One notification on one install, as it is at some position of the log.
package struct Delivery {
    package let name: Name
    /// The day of its first event in the app's time zone.
    package let day: CivilDate
    package let facts: Facts
    package let state: DeliveryState

    /// (app, install, notification key), and the shard, which follows from the install.
    package struct Name: Hashable, Sendable {
        package let app: Int32
        package let shard: Int16
        package let install: UUID
        package let notificationKey: String

        package init(app: Int32, shard: Int16, install: UUID, notificationKey: String) {
            self.app = app
            self.shard = shard
            self.install = install
            self.notificationKey = notificationKey
        }

        // Names are compared by their bytes, as PostgreSQL does. Swift's `String` treats two spellings of "é" as equal.
        package static func == (left: Name, right: Name) -> Bool {
            left.install == right.install && left.app == right.app
                && left.notificationKey.utf8.elementsEqual(right.notificationKey.utf8)
        }

        package func hash(into hasher: inout Hasher) {
            // Of the bytes, too: a thousand spellings of one text are a thousand names, and as strings they would hash
            // alike.
            hasher.combine(install)
            hasher.combine(bytesOf: notificationKey)
        }
    }

    package init(_ name: Name, day: CivilDate, state: DeliveryState) {
        self.name = name
        self.day = day
        self.state = state
        facts = Facts(of: state)
    }
}

extension Hasher {
    /// Adds a text as it is spelled. `combine` adds it as Unicode compares it: texts with the same meaning and
    /// different bytes have one hash, and whoever sends many of them makes a table slow.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
