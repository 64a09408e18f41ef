/// Makes one funnel from deliveries, or from days of installs. Each projector is a file that declares the name of the
/// funnel, its tables with the meaning of each column, what a delivery adds to their cells, and how SQL counts the same
/// from raw events. What a delivery adds, and to which cell, depends on that delivery alone. So a funnel is a sum: when
/// a delivery changes, its old contribution is subtracted and its new one is added.
///
/// `Docs/CONTRIBUTING.md` shows how to add one. Raise `version` when the meaning of a number changes.
package protocol Projector: SendableMetatype {
    /// The projector's name, in commands and in `projection.projector`.
    static var name: String { get }
    static var version: Int32 { get }
    static var tables: [TallyTable] { get }
    /// What it offers to views besides the sums of its first table.
    static var counted: Counted { get }
    /// Adds the counts of a delivery, `weight` times: 1 adds it, -1 takes it out. `tallies` has one tally for each of
    /// `tables`, in that order.
    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally])
    /// Adds the counts of a day of an install, `weight` times.
    static func count(_ day: InstallDay, _ weight: Int64, into tallies: inout [Tally])
}

/// A funnel counts one or the other. Most offer the sums of one table.
extension Projector {
    package static var counted: Counted { Counted() }
    package static func count(_: Delivery, _: Int64, into _: inout [Tally]) {}
    package static func count(_: InstallDay, _: Int64, into _: inout [Tally]) {}
}

/// All projectors, in the order in which lists and documents name them.
package enum Projectors {
    package static let all: [any Projector.Type] = [
        CategoryFunnel.self, CategoryActions.self, CategoryExposures.self, CampaignFunnel.self, StoryFunnel.self,
        StoryPageFunnel.self, ThreadFunnel.self, VersionFunnel.self, SilentFunnel.self, MediaFunnel.self,
        SendDelays.self, InstallDays.self, MutedAfter.self, GoalFunnel.self,
    ]

    /// The version of each projector's rules in this program, and of the deliveries that they count.
    package static func versions(of projectors: [any Projector.Type]) -> [String: Int32] {
        Dictionary(
            uniqueKeysWithValues: [(DeliveryTable.projector, DeliveryTable.version)]
                + projectors.map { ($0.name, $0.version) })
    }
}
