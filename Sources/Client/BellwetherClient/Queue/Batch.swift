/// Consecutive events of the queue: the contents of one envelope.
struct Batch: Sendable {
    struct Event: Sendable {
        let seq: Int64
        /// In milliseconds of the queue's age clock.
        let age: Int64
        /// In milliseconds since 1970.
        let time: Int64
        /// The index of its source in the batch's `sources`.
        let source: Int
        let json: ArraySlice<UInt8>
    }

    /// The distinct JSON objects that describe the install; empty if there are no events.
    var sources: [[UInt8]] = []
    var events: [Event] = []
    /// The dropped events to report in the same envelope.
    var drops: [Drop] = []
    /// Settling the batch settles the seqs from `first` to `last`. Those without an event could not be read.
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

/// Fills a batch up to a number of events and bytes.
struct BatchFiller {
    private(set) var batch: Batch
    private let mostEvents: Int
    private let maximumBytes: Int
    private var shared = SharedSource([])
    /// The size of the events alone, and the number of events of each source.
    private var bytes = 0
    private var counts: [Int] = []
    /// The size of everything.
    private var size = 0
    /// Whether its events may have different sources.
    private var isMixable = true

    init(first: Int64, events: Int, bytes: Int) {
        batch = Batch(first: first, last: first - 1)
        mostEvents = events
        maximumBytes = bytes
    }

    /// Passes all seqs up to this one, although they gave no event.
    mutating func pass(to last: Int64) { batch.last = max(batch.last, last) }

    /// Starts the batch at this seq: earlier ones are not missing events.
    mutating func begin(at first: Int64) {
        batch.first = first
        batch.last = first - 1
    }

    /// Takes an event if it fits. The first event always fits.
    mutating func take(_ record: Record) -> Bool {
        let canBear = SharedSource.canBear(record.event)
        let place: Int
        if let known = batch.sources.firstIndex(where: { record.source.elementsEqual($0) }) {
            let new = size + record.event.count + 1 + shared.growth(at: known)
            guard canBear || batch.sources.count == 1, fits(new) else { return false }
            (place, size) = (known, new)
        } else {
            let source = Array(record.source)
            let isDivisible = canBear && SharedSource.isDivisible(source)
            guard batch.events.isEmpty || isMixable && isDivisible else { return false }
            let parted = SharedSource(batch.sources + [source])
            let others = counts.enumerated().reduce(bytes) { $0 + $1.element * parted.growth(at: $1.offset) }
            let new = parted.shared.count + others + record.event.count + 1 + parted.growth(at: counts.count)
            guard fits(new) else { return false }
            (place, size, shared, isMixable) = (counts.count, new, parted, isDivisible)
            batch.sources.append(source)
            counts.append(0)
        }
        isMixable = isMixable && canBear
        bytes += record.event.count + 1
        counts[place] += 1
        batch.events.append(
            Batch.Event(seq: record.seq, age: record.age, time: record.time, source: place, json: record.event))
        batch.last = record.seq
        return true
    }

    private func fits(_ size: Int) -> Bool {
        batch.events.isEmpty || batch.events.count < mostEvents && size <= maximumBytes
    }
}
