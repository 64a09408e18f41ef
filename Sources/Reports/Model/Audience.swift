/// One notification group.
package struct ThreadSummary: Hashable, Sendable {
    package var name: String
    package var counts: FunnelCounts
    package var items: Int64

    package init(name: String, counts: FunnelCounts, items: Int64) {
        (self.name, self.counts, self.items) = (name, counts, items)
    }
}

/// One version of the app on one platform, and whether its receipts still come.
package struct VersionSummary: Hashable, Sendable {
    package var platform: String
    package var version: String
    package var counts: FunnelCounts
    /// Receipt coverage of the same version on the seven days before; of all versions of the platform when it is new.
    package var before: Rate
    /// True when `before` is that of the platform.
    package var isNew: Bool
    /// Coverage on the day against `before`. An alarm when it is lower by two points or more, and by more than chance.
    package var verdict: Verdict

    package init(
        platform: String, version: String, counts: FunnelCounts, before: Rate, isNew: Bool, verdict: Verdict
    ) {
        (self.platform, self.version, self.counts) = (platform, version, counts)
        (self.before, self.isNew, self.verdict) = (before, isNew, verdict)
    }

    package var isAlarm: Bool {
        guard case .lower = verdict, let now = counts.receiptCoverage.value, let was = before.value else {
            return false
        }
        return was - now >= 0.02
    }
}

/// Deliveries of a category that the app in the foreground let show to nobody.
package struct Suppressed: Hashable, Sendable {
    package var category: String
    package var suppressed: Rate

    package init(category: String, suppressed: Rate) { (self.category, self.suppressed) = (category, suppressed) }
}

/// Silent pushes of a campaign.
package struct SilentSummary: Hashable, Sendable {
    package var campaign: String
    package var woken: Int64
    package var newData: Int64
    package var noData: Int64
    package var failed: Int64
    package var noResult: Int64

    package init(campaign: String, woken: Int64, newData: Int64, noData: Int64, failed: Int64, noResult: Int64) {
        (self.campaign, self.woken, self.newData) = (campaign, woken, newData)
        (self.noData, self.failed, self.noResult) = (noData, failed, noResult)
    }
}

/// What became of attachments of a kind on a network, over all categories.
package struct MediaSummary: Hashable, Sendable {
    package var kind: String
    package var network: String
    package var outcome: String
    package var deliveries: Int64
    package var responded: Int64

    package init(kind: String, network: String, outcome: String, deliveries: Int64, responded: Int64) {
        (self.kind, self.network, self.outcome) = (kind, network, outcome)
        (self.deliveries, self.responded) = (deliveries, responded)
    }

    package var responseRate: Rate { Rate(responded, of: deliveries) }
}

/// Deliveries of a category that had media and buttons, of which iOS shows a thumbnail at most.
package struct MediaWithButtons: Hashable, Sendable {
    package var category: String
    package var deliveries: Int64

    package init(category: String, deliveries: Int64) { (self.category, self.deliveries) = (category, deliveries) }
}

/// Installs, each counted once for the day; days cannot be summed. Silent pushes reach nobody.
package struct Reach: Hashable, Sendable {
    package var reached: Int64 = 0
    package var responding: Int64 = 0
    /// Deliveries of the day to an install that got any: the median and the 95th in 100.
    package var pushesP50: Int64?
    package var pushesP95: Int64?

    package init() {}
}

/// An hour of the day, by the deliveries' first events.
package struct Hour: Hashable, Sendable {
    package var hour: Int
    package var delivered: Int64
    package var response: Rate

    package init(hour: Int, delivered: Int64, response: Rate) {
        (self.hour, self.delivered, self.response) = (hour, delivered, response)
    }
}

/// What became of what was sent on the day: by the day of receipt, over all keys.
package struct Quality: Hashable, Sendable {
    package var accepted: Int64 = 0
    package var duplicate: Int64 = 0
    package var rejected: Int64 = 0
    /// The most frequent first.
    package var rejectedByReason: [Reason] = []
    package var corrected: Int64 = 0
    package var clamped: Int64 = 0
    package var late: Int64 = 0
    /// As clients say: it can be absurd, up to the greatest number there is. Add nothing to it.
    package var clientDropped: Int64 = 0

    package init() {}

    package var isEmpty: Bool { accepted == 0 && duplicate == 0 && rejected == 0 && clientDropped == 0 }

    package struct Reason: Hashable, Sendable {
        package var reason: String
        package var events: Int64

        package init(reason: String, events: Int64) { (self.reason, self.events) = (reason, events) }
    }
}
