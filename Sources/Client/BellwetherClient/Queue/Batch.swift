internal import Foundation

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
    /// The dropped events to report in the same envelope, and the install that dropped them.
    var drops: [Drop] = []
    var install: UUID?
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
    /// The size of the events without their sources, and with them.
    private var bare = 0
    private var whole = 0
    /// Whether all events can carry their source.
    private var canCarry = true

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
        let known = batch.sources.firstIndex { record.source.elementsEqual($0) }
        let source = known ?? batch.sources.count
        let isMixed = source > 0 || batch.sources.count > 1
        let canCarry = canCarry && Envelope.canCarrySource(record)
        let bare = bare + Envelope.size(of: record, withSource: false)
        let whole = whole + Envelope.size(of: record, withSource: true)
        let size = isMixed ? whole : bare + record.source.count
        let fits = batch.events.count < mostEvents && size <= maximumBytes && (canCarry || !isMixed)
        guard fits || batch.events.isEmpty else { return false }
        (self.canCarry, self.bare, self.whole) = (canCarry, bare, whole)
        if known == nil { batch.sources.append(Array(record.source)) }
        batch.events.append(
            Batch.Event(seq: record.seq, age: record.age, time: record.time, source: source, json: record.event))
        batch.last = record.seq
        return true
    }
}
