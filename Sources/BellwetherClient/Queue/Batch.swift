/// Events that stand one after the other in the queue: what one envelope carries.
struct Batch: Sendable {
    struct Event: Sendable {
        let seq: Int64
        /// In milliseconds of the queue's age clock.
        let age: Int64
        /// In milliseconds since 1970.
        let time: Int64
        /// The place of its source among the batch's.
        let source: Int
        let json: ArraySlice<UInt8>
    }

    /// The JSON objects that tell of the install, each once; none where there are no events.
    var sources: [[UInt8]] = []
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
