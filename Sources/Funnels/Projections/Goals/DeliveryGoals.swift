package import Values

/// The goals that count for a delivery. A delivery has none, not even an empty list, while its app has reached no goal:
/// then nothing is counted that only goals need.
package struct DeliveryGoals: Hashable, Sendable {
    package let credits: [Credit]

    package init(_ credits: [Credit] = []) { self.credits = credits }

    /// At most this many goals of a delivery count by each rule: the last ones in event order.
    package static let most: Int32 = 1_000
    /// At most this many goals of an install count of each day (UTC): the last ones in event order.
    package static let mostADay: Int32 = 100
    /// How many microseconds a response or a receipt may be ago.
    package static let reach: Int64 = 7 * 86_400_000_000

    /// A goal that counts for a delivery by one of the rules.
    package struct Credit: Hashable, Sendable {
        package let rule: Rule
        /// The id of its word.
        package let goal: Int32
        /// Five bits for each letter; 0 for none.
        package let currency: Int16
        /// In millionths; 0 for none, too.
        package let value: Int64
        package let reachedAt: Timestamp
        /// When the response or receipt was that it counts for; nil if the goal names the notification itself.
        package let since: Timestamp?
    }

    /// By what a goal is put down to a delivery. Stored rows hold these codes.
    package enum Rule: Int16, CaseIterable, Sendable {
        case response = 1
        case receipt

        package var name: String {
            switch self {
            case .response: "response"
            case .receipt: "receipt"
            }
        }
    }
}

extension DeliveryGoals.Credit {
    /// How many microseconds passed until the goal was reached. A goal that names its notification counts from the
    /// first response or receipt, and at once if there is none before it.
    func elapsed(in facts: Facts) -> Int64 {
        let named = rule == .response ? facts.firstResponse?.at : facts.receivedAt
        guard let since = since ?? named else { return 0 }
        return max(0, reachedAt - since)
    }
}
