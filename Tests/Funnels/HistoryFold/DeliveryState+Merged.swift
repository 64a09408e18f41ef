package import Projections

extension DeliveryState {
    package func merged(with other: DeliveryState) -> DeliveryState {
        var both = self
        both.merge(other)
        return both
    }
}
