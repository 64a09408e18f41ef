import JSON
import ServiceRuntime
import Telemetry

/// The body of a request, and where its parts stand in it: looked for when first asked, since most envelopes have
/// nothing rejected.
final class RawEnvelope: Sendable {
    private let body: [UInt8]
    private let eventsOrdinal: Int
    private let sourceOrdinal: Int?
    private let ranges = Lock<[Range<Int>]?>(nil)

    /// The ordinals count the members of the envelope, from 0.
    init(body: [UInt8], eventsOrdinal: Int, sourceOrdinal: Int?) {
        self.body = body
        self.eventsOrdinal = eventsOrdinal
        self.sourceOrdinal = sourceOrdinal
    }

    /// Where each event stands.
    var eventRanges: [Range<Int>] {
        ranges.withLock { ranges in
            if let ranges { return ranges }
            let found = elementRanges(ofMember: eventsOrdinal)
            ranges = found
            return found
        }
    }

    /// Where a member's value stands.
    func range(ofMember ordinal: Int) -> Range<Int>? {
        let body = body
        return JSONSlicer.value(ofMember: ordinal, ofObjectAt: JSONSlicer.root(in: body.span), in: body.span)
    }

    /// Where the elements of a member that is an array stand.
    func elementRanges(ofMember ordinal: Int) -> [Range<Int>] {
        let body = body
        guard let array = range(ofMember: ordinal) else { return [] }
        return JSONSlicer.elements(ofArrayAt: array.lowerBound, in: body.span)
    }

    func event(_ index: Int) -> ArraySlice<UInt8> { cut(eventRanges[index]) }

    var source: [UInt8]? {
        sourceOrdinal.flatMap(range(ofMember:)).map { Array(cut($0)) }
    }

    private func cut(_ range: Range<Int>) -> ArraySlice<UInt8> {
        guard range.count > Bounds.rawEvent else { return body[range] }
        var end = range.lowerBound + Bounds.rawEvent
        // A continuation byte may not begin what is cut off.
        while body[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
        return body[range.lowerBound..<end]
    }
}
