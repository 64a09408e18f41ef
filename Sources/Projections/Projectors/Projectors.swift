/// All projectors, in the order in which lists and documents name them.
package enum Projectors {
    package static let all: [any Projector.Type] = [
        CategoryFunnel.self, CategoryActions.self, CategoryExposures.self, CampaignFunnel.self, StoryFunnel.self,
        StoryPageFunnel.self, ThreadFunnel.self, VersionFunnel.self, SilentFunnel.self, MediaFunnel.self,
    ]

    /// The version of each projector's rules in this program, and of the deliveries that they count.
    package static func versions(of projectors: [any Projector.Type]) -> [String: Int32] {
        Dictionary(
            uniqueKeysWithValues: [(DeliveryTable.projector, DeliveryTable.version)]
                + projectors.map { ($0.name, $0.version) })
    }
}
