/// Makes one funnel of deliveries. Each is a file of its own, and all are alike: what it is called, its tables, and what
/// a delivery adds to their cells. The cell it adds to and what it adds depend on that delivery alone: so a funnel is a
/// sum, and a delivery that changes is taken out as it was and put in as it is.
///
/// To add one: its file here, its line in `Projectors.all`, a migration that makes its tables, a view, a recount for
/// `verify`. `Docs/Architecture.md` shows an example. Raise `version` when the meaning of a number changes.
package protocol Projector: SendableMetatype {
    /// Of the projector, for people and in `projection.projector`.
    static var name: String { get }
    static var version: Int32 { get }
    static var tables: [TallyTable] { get }
    /// Adds what a delivery counts for, `weight` times: once, or less than nothing to take it out. `tallies` are those of
    /// `tables`, in that order.
    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally])
}

/// A table of counts, in schema `projection`: its key beyond app, day and shard, and what it counts.
package struct TallyTable: Sendable {
    package let name: String
    /// Up to four columns of smallint or integer.
    package let keys: [Column]
    /// All of them bigint.
    package let counts: [String]

    package struct Column: Sendable {
        package let name: String
        package let type: Width
        package enum Width: String, Sendable { case smallint, integer }

        package static func integer(_ name: String) -> Column { Column(name: name, type: .integer) }
        package static func smallint(_ name: String) -> Column { Column(name: name, type: .smallint) }
    }

    package init(_ name: String, keys: [Column], counts: [String]) {
        precondition(keys.count <= 4, "a cell has up to four keys of its own")
        self.name = name
        self.keys = keys
        self.counts = counts
    }
}
