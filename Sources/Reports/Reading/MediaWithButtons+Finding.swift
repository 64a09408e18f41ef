extension MediaWithButtons {
    /// Of the day's categories those that have buttons, by the registry or by taps, and deliveries with media.
    static func find(in categories: [CategorySummary]) -> [MediaWithButtons] {
        categories.compactMap { category in
            let hasButtons = category.buttons.contains(where: \.isThere) || !category.actions.isEmpty
            guard hasButtons, category.counts.mediaAttached > 0 else { return nil }
            return MediaWithButtons(category: category.name, deliveries: category.counts.mediaAttached)
        }
        .sorted { ($1.deliveries, ExactName($0.category)) < ($0.deliveries, ExactName($1.category)) }
    }
}
