/// Events that stand one after the other in the queue and tell of the same source: what one envelope carries.
struct Batch: Sendable {
    struct Event: Sendable {
        let seq: Int64
        /// In milliseconds of the queue's age clock.
        let age: Int64
        /// In milliseconds since 1970.
        let time: Int64
        let json: ArraySlice<UInt8>
    }

    /// The source's JSON object; nothing where there are no events.
    var source: [UInt8] = []
    var events: [Event] = []
    /// What was dropped, to be told along.
    var drops: [Drop] = []
    /// The seqs from `first` to `last` are done with when this is: those that have no event could not be read.
    var first: Int64
    var last: Int64

    /// The first events of it.
    func prefix(_ count: Int) -> Batch {
        guard count < events.count else { return self }
        var batch = self
        batch.events = Array(events.prefix(count))
        batch.last = batch.events.last?.seq ?? first - 1
        return batch
    }
}
