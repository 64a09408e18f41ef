/// What a step makes of its news: deliveries that are new, deliveries that changed, and by how much the cells change.
struct Changes {
    private(set) var inserted: [Delivery] = []
    private(set) var updated: [Delivery] = []
    /// Those that no longer count as they were; of each that is updated, in the same order, as it was.
    private(set) var replaced: [Delivery] = []

    /// Of those names whose stored deliveries were read, in the order of the names.
    init(
        _ names: [Delivery.Name], _ news: [Delivery.Name: EventReader.News], to part: DeliveryTable.Part,
        except sealed: Set<Delivery.Name>
    ) {
        let left = Set(part.left)
        for name in names where !sealed.contains(name) && (left.isEmpty || !left.contains(name)) {
            guard let news = news[name] else { continue }
            let state = DeliveryState(of: news.observations)
            guard let old = part.stored[name] else {
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
    init(redated stored: [DeliveryTable.Stored]) {
        for old in stored where old.presentDay != old.delivery.day {
            updated.append(Delivery(old.delivery.name, day: old.presentDay, state: old.delivery.state))
            replaced.append(old.delivery)
        }
    }

    /// Deliveries that go.
    init(removed deliveries: [Delivery]) { replaced = deliveries }

    /// Deliveries that come.
    init(inserted deliveries: [Delivery]) { inserted = deliveries }
}
