/// The stories of one category and campaign on the day.
package struct StorySummary: Hashable, Sendable {
    package var category: String
    package var campaign: String
    package var stories: Int64
    package var started: Int64
    package var completed: Int64
    package var exits: Exits
    package var pages: [Page] = []
    /// What is wrong with the pages as the campaign's newest sends told them, by their places there.
    package var faults: [PageFault] = []

    package init(
        category: String, campaign: String, stories: Int64, started: Int64, completed: Int64, exits: Exits
    ) {
        (self.category, self.campaign, self.stories) = (category, campaign, stories)
        (self.started, self.completed, self.exits) = (started, completed, exits)
    }

    package var completionRate: Rate { Rate(completed, of: started) }
    package var fallbackRate: Rate { Rate(exits.fallback, of: stories) }

    package struct Exits: Hashable, Sendable {
        package var clicked: Int64
        package var finished: Int64
        package var fallback: Int64
        package var abandoned: Int64

        package init(clicked: Int64, finished: Int64, fallback: Int64, abandoned: Int64) {
            (self.clicked, self.finished) = (clicked, finished)
            (self.fallback, self.abandoned) = (fallback, abandoned)
        }
    }

    package struct Page: Hashable, Sendable {
        /// From 0.
        package var index: Int
        package var planned: Int64
        package var reached: Int64
        package var shown: Int64
        package var views: Int64
        package var clicked: Int64
        package var exited: Int64
        package var dwellMilliseconds: Int64
        package var dwells: Int64
        /// As the newest send of the campaign that tells of its pages calls it, and the time that it gives it.
        package var title: String?
        package var declaredMilliseconds: Int64?
        /// Times that the next page came by itself, that somebody brought it, and that neither is known.
        package var autoAdvances: Int64 = 0
        package var manualAdvances: Int64 = 0
        package var unexplainedAdvances: Int64 = 0

        package init(
            index: Int, planned: Int64, reached: Int64, shown: Int64, views: Int64, clicked: Int64, exited: Int64,
            dwellMilliseconds: Int64, dwells: Int64
        ) {
            (self.index, self.planned, self.reached, self.shown) = (index, planned, reached, shown)
            (self.views, self.clicked, self.exited) = (views, clicked, exited)
            (self.dwellMilliseconds, self.dwells) = (dwellMilliseconds, dwells)
        }

        package var clickRate: Rate { Rate(clicked, of: shown) }
        /// Of the advances that are told apart, those that came by themselves.
        package var autoRate: Rate { Rate(autoAdvances, of: autoAdvances + manualAdvances) }
        package var meanDwellSeconds: Double? {
            dwells == 0 ? nil : Double(dwellMilliseconds) / Double(dwells) / 1000
        }
    }
}

extension StorySummary {
    /// A page that was sent with a mistake.
    package struct PageFault: Hashable, Sendable {
        /// From 0, among the declared pages: of those, what has no image is not shown.
        package var declaredIndex: Int
        package var kind: Kind

        package init(declaredIndex: Int, kind: Kind) { (self.declaredIndex, self.kind) = (declaredIndex, kind) }

        /// As `analytics.story_pages` says it.
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case noImage = "no_image"
            case invalidLink = "invalid_link"
            case buttonWithoutLink = "button_without_link"
            case linkWithoutButton = "link_without_button"
        }
    }
}

/// What it costs when the fallback is shown instead of the story: the response of the ones beside that of the others.
package struct FallbackCost: Hashable, Sendable {
    /// Of received deliveries whose story fell back.
    package var fallback: Rate
    /// Of received deliveries whose story was shown.
    package var shown: Rate
    package var verdict: Verdict

    package init(fallback: Rate, shown: Rate, verdict: Verdict) {
        (self.fallback, self.shown, self.verdict) = (fallback, shown, verdict)
    }
}
