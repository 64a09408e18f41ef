/// How large things may be. A value over its bound is rejected by name, never cut.
package enum Bounds {
    /// Bytes of an identifier or a key.
    package static let identifier = 256

    /// Bytes of any other string.
    package static let string = 512

    /// Bytes of one event in the body.
    package static let event = 32 * 1024

    /// Bytes of an envelope's `source` in the body.
    package static let source = 32 * 1024

    /// Bytes of a rejected event that are kept. A longer one is cut: the beginning still shows what was wrong.
    package static let rawEvent = 32 * 1024

    /// Bytes of an envelope's `source` that are kept with a rejected event. A longer one is not kept at all: cut, it
    /// would not help to try the event again.
    package static let rawSource = 8 * 1024

    /// Bytes of unknown members kept with an event.
    package static let extra = 4096

    /// Levels of nesting; the event object is the first.
    package static let nesting = 32

    /// Events of one envelope.
    package static let events = 1000

    /// Bytes of an envelope after unpacking.
    package static let unpackedBody = 8 * 1024 * 1024

    /// Entries of an envelope's `dropped` that are read.
    package static let drops = 1000

    package static let seq: ClosedRange<Int64> = 0...(1 << 53)
    package static let pageIndex: ClosedRange<Int64> = 0...999
    package static let pageCount: ClosedRange<Int64> = 1...1000
    package static let declaredPageCount: ClosedRange<Int64> = 0...1000
    package static let mediaMilliseconds: ClosedRange<Int64> = 0...600_000

    /// The value of a goal is below so many whole ones.
    package static let goalValue: Int64 = 1_000_000_000_000

    package static let relevance: ClosedRange<Double> = 0...1

    /// Counts, bytes and other milliseconds.
    package static let count: ClosedRange<Int64> = 0...Int64.max
}
