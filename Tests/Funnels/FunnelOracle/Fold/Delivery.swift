package import Telemetry
package import Values

package import struct Foundation.TimeZone

/// One notification on one install, with all its events in event order and what they say together.
package struct Delivery: Sendable {
    package let name: Name
    /// In event order, none twice.
    package let events: [Event]
    package let facts: DeliveryFacts

    /// (app, install, notification key).
    package struct Name: Hashable, Sendable {
        package let app: Label
        package let install: UUID
        /// The key of the contract's section 1, whichever of its spellings an event carries.
        package let notificationKey: Label
    }

    /// The deliveries that a set of events makes, in no particular order.
    package static func all(in events: [StoredEvent], timeZone: (String) -> TimeZone) -> [Delivery] {
        var byDelivery: [Name: [StoredEvent]] = [:]
        // An event about the install itself has no key, and is of no delivery.
        for stored in StoredEvent.distinct(events) {
            // A goal may name a notification, and is no event of its fold.
            guard stored.event.type != .goalReached, let key = stored.event.notificationKey else { continue }
            let install = stored.event.source.installID
            let name = Name(app: Label(stored.app), install: install, notificationKey: Label(key))
            byDelivery[name, default: []].append(stored)
        }
        return byDelivery.map { name, stored in
            let events = stored.map(\.event).sorted(by: EventOrder.precedes)
            let facts = DeliveryFacts(of: events, timeZone: timeZone(name.app.text))
            return Delivery(name: name, events: events, facts: facts)
        }
    }
}
