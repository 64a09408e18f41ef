internal import JSON
internal import Telemetry

/// Where a send stands in its body, and what of it JSON can say but nobody can hold.
struct SendPlace {
    let body: [UInt8]
    let range: Range<Int>
    /// Those of the whole body.
    let misfits: [JSONMisfit]

    /// The member's path within the send and what is wrong with it; nil when nothing is.
    func problem(in value: JSONValue) -> String? {
        let body = body
        if let misfit = misfits.first(where: { range.contains($0.offset) }) {
            return JSONSlicer.path(to: misfit.offset, ofValueAt: range.lowerBound, in: body.span) + ": "
                + words(misfit.kind)
        }
        guard value.holdsNUL else { return nil }
        let offset = JSONSlicer.offset(ofNULIn: range, of: body.span)
        let path = offset.map { JSONSlicer.path(to: $0, ofValueAt: range.lowerBound, in: body.span) } ?? ""
        return path + ": it contains a string with the character U+0000"
    }

    /// Whether a member was mended as a whole, so that what is read of it is not what stood there.
    func hasMended(_ member: SendMember, of value: JSONValue) -> Bool {
        let body = body
        guard misfits.contains(where: { range.contains($0.offset) }),
            let ordinal = value.members.enumerated().reversed().first(where: { $1.key.spells(member.name) })?.offset,
            let place = JSONSlicer.value(ofMember: ordinal, ofObjectAt: range.lowerBound, in: body.span)
        else { return false }
        return misfits.contains { $0.offset == place.lowerBound }
    }

    private func words(_ kind: JSONMisfit.Kind) -> String {
        switch kind {
        case .number: "it contains a number that fits neither 64 bits nor a double"
        case .surrogate: "it contains a string with a lone surrogate"
        case .nesting: "it is nested more than \(Bounds.nesting) levels deep"
        }
    }
}
