/// What a step makes of its news: new deliveries, changed deliveries, and by how much the cells change.
struct Changes {
    private(set) var inserted: [Delivery] = []
    private(set) var updated: [Delivery] = []
    /// Deliveries as they were, which no longer count. Updated ones come in the same order as in `updated`.
    private(set) var replaced: [Delivery] = []

    /// Takes the names whose stored deliveries were read, in the order of the names.
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
            // Many receipts say nothing new, and cause no write.
            if merged == old.delivery.state, day == old.delivery.day { continue }
            updated.append(Delivery(name, day: day, state: merged))
            replaced.append(old.delivery)
        }
    }

    /// Updates the deliveries that have another day in the app's present time zone.
    init(redated stored: [DeliveryTable.Stored]) {
        for old in stored where old.presentDay != old.delivery.day {
            updated.append(Delivery(old.delivery.name, day: old.presentDay, state: old.delivery.state))
            replaced.append(old.delivery)
        }
    }

    /// Removes these deliveries.
    init(removed deliveries: [Delivery]) { replaced = deliveries }

    /// Inserts these deliveries.
    init(inserted deliveries: [Delivery]) { inserted = deliveries }
}
