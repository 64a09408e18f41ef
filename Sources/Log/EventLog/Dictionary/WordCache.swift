internal import Envelopes
internal import Telemetry

/// The dictionary ids that one writer has met. Bounded: when it is full it starts again empty, and the log knows the
/// rest.
///
/// Looks words up by their bytes in the envelope, without copying them. It has only committed ids: an id from a
/// transaction that rolled back would make events vanish from the views.
struct WordCache {
    struct Key: Hashable {
        let app: Int32
        let kind: WordKind
        let word: Word
    }

    private struct Entry: BitwiseCopyable {
        let app: Int32
        let kind: Int16
        let id: Int32
        let start: Int
        let count: Int
        /// The previous entry with the same hash; -1 if there is none.
        let next: Int32
    }

    private var entries: [Entry] = []
    private var bytes: [UInt8] = []
    /// The last entry of each hash.
    private var newest: [Int: Int32] = [:]
    private let capacity: Int
    /// The entry of each kind that was found last. Consecutive events mostly share their words, and comparing is
    /// cheaper than hashing.
    private var recent = InlineArray<32, Int32>(repeating: -1)

    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    /// The id of the word in this slice of the texts.
    mutating func id(of slice: TextSlice, in texts: [UInt8], _ kind: WordKind, app: Int32) -> Int32? {
        let place = Int(kind.rawValue)
        let last = recent[place]
        if last >= 0, holds(Int(last), slice, texts, kind, app) { return entries[Int(last)].id }
        var next = newest[hash(texts.span.extracting(slice.range), kind, app)] ?? -1
        while next >= 0 {
            if holds(Int(next), slice, texts, kind, app) {
                recent[place] = next
                return entries[Int(next)].id
            }
            next = entries[Int(next)].next
        }
        return nil
    }

    mutating func insert(_ id: Int32, for key: Key) {
        if entries.count >= capacity { self = WordCache(capacity: capacity) }
        let word = Array(key.word.text.utf8)
        let hash = hash(word.span, key.kind, key.app)
        entries.append(
            Entry(
                app: key.app, kind: key.kind.rawValue, id: id, start: bytes.count, count: word.count,
                next: newest[hash] ?? -1))
        newest[hash] = Int32(entries.count - 1)
        bytes += word
    }

    private func holds(_ place: Int, _ slice: TextSlice, _ texts: [UInt8], _ kind: WordKind, _ app: Int32) -> Bool {
        let entry = entries[place]
        guard entry.count == slice.count, entry.app == app, entry.kind == kind.rawValue else { return false }
        let (word, other) = (bytes.span, texts.span)
        let start = Int(slice.start)
        for offset in 0..<entry.count where word[entry.start + offset] != other[start + offset] { return false }
        return true
    }

    /// Seeded for each process, so that nobody can choose words with the same hash.
    private func hash(_ word: Span<UInt8>, _ kind: WordKind, _ app: Int32) -> Int {
        var hasher = Hasher()
        hasher.combine(app)
        hasher.combine(kind.rawValue)
        unsafe word.withUnsafeBytes { word in unsafe hasher.combine(bytes: word) }
        return hasher.finalize()
    }
}

/// The rows of `log.device` and `log.context` that one writer has met, bounded in the same way.
struct CombinationCache {
    private var ids: [Combination: Int32] = [:]
    private let capacity: Int

    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    func id(of combination: Combination) -> Int32? { ids[combination] }

    mutating func insert(_ id: Int32, for combination: Combination) {
        if ids.count >= capacity { ids.removeAll(keepingCapacity: true) }
        ids[combination] = id
    }
}
