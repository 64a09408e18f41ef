import JSON
import ServiceRuntime
import Telemetry

/// The body of a request and the places of its parts, which are found on first use: most envelopes have no rejected
/// events.
package final class RawEnvelope: Sendable {
    private let body: [UInt8]
    private let eventsOrdinal: Int
    private let sourceOrdinal: Int?
    private let ranges = Lock<[Range<Int>]?>(nil)

    /// The ordinals count the members of the envelope, from 0.
    package init(body: [UInt8], eventsOrdinal: Int, sourceOrdinal: Int?) {
        self.body = body
        self.eventsOrdinal = eventsOrdinal
        self.sourceOrdinal = sourceOrdinal
    }

    /// Where each event is.
    var eventRanges: [Range<Int>] {
        ranges.withLock { ranges in
            if let ranges { return ranges }
            let found = elementRanges(ofMember: eventsOrdinal)
            ranges = found
            return found
        }
    }

    /// Where a member's value is.
    func range(ofMember ordinal: Int) -> Range<Int>? {
        let body = body
        return JSONSlicer.value(ofMember: ordinal, ofObjectAt: JSONSlicer.root(in: body.span), in: body.span)
    }

    /// Where the elements of an array are.
    func elementRanges(ofMember ordinal: Int) -> [Range<Int>] {
        let body = body
        guard let array = range(ofMember: ordinal) else { return [] }
        return JSONSlicer.elements(ofArrayAt: array.lowerBound, in: body.span)
    }

    /// A member of an event as the body writes it. Of a repeated member the last one that says something counts.
    func literal(of member: Member, inEvent index: Int, _ event: JSONValue) -> [UInt8] {
        let places = event.members.enumerated().filter { place in
            place.element.key.spells(member.name) && !place.element.value.isVoid
        }
        let (body, start) = (body, eventRanges[index].lowerBound)
        guard let place = places.last?.offset,
            let range = JSONSlicer.value(ofMember: place, ofObjectAt: start, in: body.span)
        else { return [] }
        return Array(body[range])
    }

    /// The first thing in an event that cannot be stored, and its path, such as `.notification.category`. Free text is
    /// not stored, so it may contain anything. Called only if something was found.
    func unholdable(inEvent index: Int) -> (path: String, problem: Unholdable)? {
        unholdable(in: eventRanges[index], levels: Bounds.nesting)
    }

    /// Like `unholdable(inEvent:)`, for the envelope's `source`, which in an event would be one level deeper.
    var unholdableOfSource: (path: String, problem: Unholdable)? {
        sourceOrdinal.flatMap(range(ofMember:)).flatMap { unholdable(in: $0, levels: Bounds.nesting - 1) }
    }

    private func unholdable(in range: Range<Int>, levels: Int) -> (path: String, problem: Unholdable)? {
        let rest = Array(withoutFreeText(range, upTo: range.count))
        var mended = rest
        // It is a part of a valid JSON text.
        let misfit = try? JSONScanner.mend(&mended, limit: levels).first
        guard let offset = misfit?.offset ?? JSONSlicer.offset(ofNULIn: 0..<rest.count, of: rest.span) else {
            return nil
        }
        let path = JSONSlicer.path(to: offset, ofValueAt: 0, in: rest.span)
        return (path, misfit.map { Unholdable($0.kind) } ?? .nul)
    }

    /// What is kept of an event.
    package func event(_ index: Int) -> ArraySlice<UInt8> {
        let kept = withoutFreeText(eventRanges[index], upTo: Bounds.rawEvent)
        guard kept.count > Bounds.rawEvent else { return kept }
        var end = kept.startIndex + Bounds.rawEvent
        // The text that is cut off must not begin within a character.
        while kept[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
        return kept[..<end]
    }

    /// What is kept of the envelope's `source`.
    var source: [UInt8]? {
        guard let range = sourceOrdinal.flatMap(range(ofMember:)), range.count <= Bounds.source else { return nil }
        let kept = withoutFreeText(range, upTo: Bounds.rawSource)
        return kept.count <= Bounds.rawSource ? Array(kept) : nil
    }

    /// A part of the body without free text. Of a longer part, at least the first `limit` bytes and one more.
    private func withoutFreeText(_ range: Range<Int>, upTo limit: Int) -> ArraySlice<UInt8> {
        let body = body
        let rest = JSONSlicer.omitting(FreeText.keys, from: body.span.extracting(range), upTo: limit)
        return rest.map { $0[...] } ?? body[range]
    }
}
