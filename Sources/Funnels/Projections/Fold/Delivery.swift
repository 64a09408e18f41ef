package import Values

/// One notification on one install, as it is at some position of the log.
package struct Delivery {
    package let name: Name
    /// The day of its first event in the app's time zone.
    package let day: CivilDate
    package let facts: Facts
    package let state: DeliveryState
    /// What people did after it; nil while its app has reached no goal.
    package let goals: DeliveryGoals?

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

    package init(_ name: Name, day: CivilDate, state: DeliveryState, goals: DeliveryGoals? = nil) {
        self.name = name
        self.day = day
        self.state = state
        self.goals = goals
        facts = Facts(of: state)
    }

    /// The same with other goals.
    private init(_ delivery: Delivery, goals: DeliveryGoals?) {
        (name, day, facts, state) = (delivery.name, delivery.day, delivery.facts, delivery.state)
        self.goals = goals
    }

    func with(_ goals: DeliveryGoals?) -> Delivery { Delivery(self, goals: goals) }
}

extension Hasher {
    /// Adds a text as it is spelled. `combine` adds it as Unicode compares it: texts with the same meaning and
    /// different bytes have one hash, and whoever sends many of them makes a table slow.
    mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
