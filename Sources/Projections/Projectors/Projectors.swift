/// All projectors, in the order in which people read about them.
package enum Projectors {
    package static let all: [any Projector.Type] = [
        CategoryFunnel.self, CategoryActions.self, CategoryExposures.self, CampaignFunnel.self, StoryFunnel.self,
        StoryPageFunnel.self, ThreadFunnel.self, VersionFunnel.self, SilentFunnel.self, MediaFunnel.self,
    ]
}
