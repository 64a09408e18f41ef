/// One category on the day.
package struct CategorySummary: Hashable, Sendable {
    package var name: String
    package var counts: FunnelCounts
    /// By deliveries tapped, the greatest first.
    package var actions: [Action] = []
    /// Its buttons as they are registered, in their places, and those that were tapped without being registered; none of
    /// a category of which no button ever was registered. All days together.
    package var buttons: [Button] = []
    /// By deliveries with a tap of it on the day, the greatest first; none where no tapped button has a registered one.
    package var answers: [Answer] = []
    /// Dismissed of delivered; nil unless the category is registered as one of which iOS reports that.
    package var dismissRate: Double?
    /// Opened deliveries by what the app was doing: `cold`, `warm`, `foreground`, or '' where the event does not say.
    package var launches: [Launch] = []

    package init(name: String, counts: FunnelCounts) { (self.name, self.counts) = (name, counts) }

    package struct Action: Hashable, Sendable {
        package var id: String
        package var tappedDeliveries: Int64
        package var taps: Int64
        package var foregroundTaps: Int64
        /// Deliveries with a tap and a receipt before it.
        package var timed: Int64
        package var medianSeconds: Double?

        package init(
            id: String, tappedDeliveries: Int64, taps: Int64, foregroundTaps: Int64, timed: Int64,
            medianSeconds: Double?
        ) {
            (self.id, self.tappedDeliveries, self.taps) = (id, tappedDeliveries, taps)
            (self.foregroundTaps, self.timed, self.medianSeconds) = (foregroundTaps, timed, medianSeconds)
        }
    }

    package struct Answer: Hashable, Sendable {
        /// accept, decline, later or close; '' of buttons without one.
        package var answer: String
        package var tappedDeliveries: Int64
        package var taps: Int64

        package init(answer: String, tappedDeliveries: Int64, taps: Int64) {
            (self.answer, self.tappedDeliveries, self.taps) = (answer, tappedDeliveries, taps)
        }
    }

    package struct Launch: Hashable, Sendable {
        package var state: String
        package var opened: Int64

        package init(state: String, opened: Int64) { (self.state, self.opened) = (state, opened) }
    }
}

/// A button that is known to be there, was delivered often, and was not tapped once in four weeks, or stopped being.
package struct DeadAction: Hashable, Sendable {
    package var category: String
    package var what: What
    /// Deliveries of the category since the day of its last tap; or, of the 28 days up to the day, on those since a tap
    /// told of the button. At least 100, or nothing is said.
    package var delivered: Int64
    /// With 95 in 100 sure, fewer than this share of them would tap it.
    package var bound: Double
    /// Its title, where it is registered.
    package var title: String?

    package init(category: String, what: What, delivered: Int64, bound: Double) {
        (self.category, self.what, self.delivered, self.bound) = (category, what, delivered, bound)
    }

    package enum What: Hashable, Sendable {
        /// Tapped before, not on any of the last so many days.
        case silentSince(id: String, days: Int)
        /// The button at this place (from 0) of so many, known by the taps on its neighbours, never tapped.
        case neverTapped(index: Int, count: Int)
    }
}
