/// Makes one funnel of deliveries. Each is a file of its own that says four things: what the funnel is called, its tables
/// with what each column means, what a delivery adds to their cells, and how SQL counts the same from raw events. The cell
/// that a delivery adds to and what it adds depend on that delivery alone: so a funnel is a sum, and a delivery that
/// changes is taken out as it was and put in as it is.
///
/// `Docs/Architecture.md` shows how to add one. Raise `version` when the meaning of a number changes.
package protocol Projector: SendableMetatype {
    /// Of the projector, for people and in `projection.projector`.
    static var name: String { get }
    static var version: Int32 { get }
    static var tables: [TallyTable] { get }
    /// Adds what a delivery counts for, `weight` times: once, or less than nothing to take it out. `tallies` are those of
    /// `tables`, in that order.
    static func count(_ delivery: Delivery, _ weight: Int64, into tallies: inout [Tally])
}
