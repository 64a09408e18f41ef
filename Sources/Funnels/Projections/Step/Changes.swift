/// What a step makes of its news: new deliveries, changed deliveries, and by how much the cells change.
struct Changes {
    private(set) var inserted: [Delivery] = []
    private(set) var updated: [Delivery] = []
    /// Deliveries as they were, which no longer count. Updated ones come in the same order as in `updated`.
    private(set) var replaced: [Delivery] = []

    /// Deliveries that have no new event, but other goals: as they were, and as they are.
    private(set) var credited: [(old: Delivery, new: Delivery)] = []

    /// Takes the names whose stored deliveries were read, in the order of the names. `former` are the goals of those
    /// that had others before.
    init(
        _ names: [Delivery.Name], _ news: [Delivery.Name: EventReader.News], to part: DeliveryTable.Part,
        except sealed: Set<Delivery.Name>, former: GoalFold.Former
    ) {
        let left = Set(part.left)
        for name in names where !sealed.contains(name) && (left.isEmpty || !left.contains(name)) {
            let goals = part.goals[name]
            guard let stored = part.stored[name] else {
                guard let news = news[name] else { continue }
                inserted.append(
                    Delivery(name, day: news.day, state: DeliveryState(of: news.observations), goals: goals))
                continue
            }
            let old = former.isEmpty ? stored.delivery : former[name].map(stored.delivery.with) ?? stored.delivery
            var merged = old.state
            var day = stored.presentDay
            if let news = news[name] {
                let isEarlier = news.earliest < old.state.span.firstOccurredAt
                merged.merge(DeliveryState(of: news.observations))
                if isEarlier { day = news.day }
            }
            // Many receipts say nothing new, and cause no write.
            if merged == old.state, day == old.day {
                if old.goals != goals { credited.append((old, old.with(goals))) }
                continue
            }
            updated.append(Delivery(name, day: day, state: merged, goals: goals))
            replaced.append(old)
        }
    }

    /// Updates the deliveries that have another day in the app's present time zone.
    init(redated stored: [DeliveryTable.Stored]) {
        for old in stored where old.presentDay != old.delivery.day {
            let delivery = old.delivery
            updated.append(
                Delivery(delivery.name, day: old.presentDay, state: delivery.state, goals: delivery.goals))
            replaced.append(delivery)
        }
    }

    /// Removes these deliveries.
    init(removed deliveries: [Delivery]) { replaced = deliveries }

    /// Inserts these deliveries.
    init(inserted deliveries: [Delivery]) { inserted = deliveries }
}
