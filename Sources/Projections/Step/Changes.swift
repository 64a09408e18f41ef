internal import Telemetry

/// What a step makes of its news: deliveries that are new, deliveries that changed, and by how much the cells change.
struct Changes {
    private(set) var inserted: [Delivery] = []
    private(set) var updated: [Delivery] = []
    /// Those that no longer count as they were.
    private(set) var replaced: [Delivery] = []

    /// Keeps the order of the names.
    init(
        _ names: [Delivery.Name], _ news: [Delivery.Name: EventReader.News],
        to stored: [Delivery.Name: DeliveryTable.Stored],
        except sealed: Set<Delivery.Name>
    ) {
        for name in names where !sealed.contains(name) {
            guard let news = news[name] else { continue }
            let state = DeliveryState(of: news.observations)
            guard let old = stored[name] else {
                inserted.append(Delivery(name, day: news.day, state: state))
                continue
            }
            var merged = old.delivery.state
            merged.merge(state)
            let isEarlier = merged.span.firstOccurredAt < old.delivery.state.span.firstOccurredAt
            let day = isEarlier ? news.day : old.presentDay
            // Many receipts say nothing new: nothing is written for them.
            if merged == old.delivery.state, day == old.delivery.day { continue }
            updated.append(Delivery(name, day: day, state: merged))
            replaced.append(old.delivery)
        }
    }

    /// Those deliveries whose day is another by the app's present time zone.
    init(redated stored: [Delivery.Name: DeliveryTable.Stored]) {
        for (name, old) in stored where old.presentDay != old.delivery.day {
            updated.append(Delivery(name, day: old.presentDay, state: old.delivery.state))
            replaced.append(old.delivery)
        }
    }

    /// Deliveries that go.
    init(removed deliveries: [Delivery]) { replaced = deliveries }

    /// Deliveries that come.
    init(inserted deliveries: [Delivery]) { inserted = deliveries }

    /// The net change that they make to the tables of each projector.
    func tallies(of projectors: [any Projector.Type]) -> [[Tally]] {
        var tallies = projectors.map { projector in projector.tables.map(Tally.init) }
        // Delivery by delivery: to take one out of its array costs more than to count it.
        func count(_ deliveries: [Delivery], _ weight: Int64) {
            for delivery in deliveries {
                for place in projectors.indices {
                    projectors[place].count(delivery, weight, into: &tallies[place])
                }
            }
        }
        count(replaced, -1)
        count(updated, 1)
        count(inserted, 1)
        return tallies
    }
}
