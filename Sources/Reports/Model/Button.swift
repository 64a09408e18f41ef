/// A button of a category: what it is registered to be, and what became of it on all days.
package struct Button: Hashable, Sendable {
    package var id: String
    /// Its place, from 1; nil of one that is not registered.
    package var position: Int?
    package var title: String?
    package var answer: String?
    /// Deliveries that showed their buttons; nil where nothing tells.
    package var exposures: Int64?
    package var tappedDeliveries: Int64
    package var taps: Int64
    package var tapRate: Double?
    package var verdict: Verdict
    /// Of an untapped one: with 95 in 100 sure, fewer than this share of those who see it tap it.
    package var rateBound: Double?

    package init(
        id: String, position: Int? = nil, title: String? = nil, answer: String? = nil, exposures: Int64? = nil,
        tappedDeliveries: Int64, taps: Int64, tapRate: Double? = nil, verdict: Verdict, rateBound: Double? = nil
    ) {
        (self.id, self.position, self.title, self.answer) = (id, position, title, answer)
        (self.exposures, self.tappedDeliveries, self.taps) = (exposures, tappedDeliveries, taps)
        (self.tapRate, self.verdict, self.rateBound) = (tapRate, verdict, rateBound)
    }

    /// As `analytics.category_buttons` says it.
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        case tapped, untapped, retired, unregistered
        case tooFew = "too_few"
        case exposureUnknown = "exposure_unknown"
        case mayBeCutOff = "may_be_cut_off"
    }

    /// Whether it is one of the category's buttons now.
    package var isThere: Bool { verdict != .retired && verdict != .unregistered }
}
