internal import Postgres

/// What a step makes of its news: new deliveries, changed deliveries, and by how much the cells change.
struct Changes {
    private(set) var inserted: [Delivery] = []
    private(set) var updated: [Delivery] = []
    /// Deliveries as they were, which no longer count. Updated ones come in the same order as in `updated`.
    private(set) var replaced: [Delivery] = []

    /// Where the rows of the updated ones are.
    private(set) var places: [RowPlace] = []

    /// How many rows are to be written.
    var written: Int { inserted.count + updated.count }

    /// Deliveries that have no new event, but other goals: as they were, and as they are.
    private(set) var credited: [(old: Delivery, new: Delivery)] = []

    /// Takes what is new of deliveries whose stored rows were read, in the same order. `former` are the goals of those
    /// that had others before.
    init(
        _ news: [DeliveryNews], in events: StepEvents, to part: DeliveryTable.Part, except sealed: Set<Delivery.Name>,
        former: GoalFold.Former
    ) throws(PostgresError) {
        var left = part.left[...]
        for (place, news) in news.enumerated() {
            if left.first == place {
                left = left.dropFirst()
                continue
            }
            let name = news.name
            if !sealed.isEmpty, sealed.contains(name) { continue }
            let goals = part.goals.isEmpty ? nil : part.goals[name]
            guard let stored = part.stored[place] else {
                guard !news.events.isEmpty else { continue }
                let (state, day) = try events.fold(news)
                inserted.append(Delivery(name, day: day, state: state, goals: goals))
                continue
            }
            let old = former.isEmpty ? stored.delivery : former[name].map(stored.delivery.with) ?? stored.delivery
            var merged = old.state
            var day = stored.presentDay
            if !news.events.isEmpty {
                let (state, newDay) = try events.fold(news)
                let isEarlier = state.span.firstOccurredAt < old.state.span.firstOccurredAt
                merged.merge(state)
                if isEarlier { day = newDay }
            }
            // Many receipts say nothing new, and cause no write.
            if merged == old.state, day == old.day {
                if old.goals != goals { credited.append((old, old.with(goals))) }
                continue
            }
            updated.append(Delivery(name, day: day, state: merged, goals: goals))
            replaced.append(old)
            places.append(stored.place)
        }
    }

    /// Updates the deliveries that have another day in the app's present time zone.
    init(redated stored: [DeliveryTable.Stored]) {
        for old in stored where old.presentDay != old.delivery.day {
            let delivery = old.delivery
            updated.append(
                Delivery(delivery.name, day: old.presentDay, state: delivery.state, goals: delivery.goals))
            replaced.append(delivery)
            places.append(old.place)
        }
    }

    /// Removes these deliveries.
    init(removed deliveries: [Delivery]) { replaced = deliveries }

    /// Counts these deliveries, whose rows are not written.
    init(inserted deliveries: [Delivery]) { inserted = deliveries }
}
