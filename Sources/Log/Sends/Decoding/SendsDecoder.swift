internal import JSON
package import Telemetry

/// Why nothing of a body could be read. Its sends are neither stored nor rejected: the whole request fails.
package enum SendsFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not well-formed UTF-8 JSON; the clause says what and where.
    case notJSON(String)
    case notAnObject
    /// There is no `sends` array.
    case noSends
    case tooManySends(Int)
    /// More bytes than an envelope may have after unpacking.
    case tooLarge(Int)

    package var description: String {
        switch self {
        case .notJSON(let reason): "it is not JSON: \(reason)"
        case .notAnObject: "it must be a JSON object with an array `sends`"
        case .noSends: "sends: this array is required"
        case .tooManySends(let count):
            "sends: an envelope may have at most \(SendBounds.sends), not \(count); send them in smaller envelopes"
        case .tooLarge(let count):
            "it has \(count) bytes, at most \(Bounds.unpackedBody) are allowed; send it in smaller envelopes"
        }
    }
}

/// Turns the body of a request, or a line of a file, into sends, each valid or rejected separately.
///
/// It reuses its parsers' buffers, so a decoder serves one thread at a time.
package final class SendsDecoder {
    /// One send of an envelope. A rejected one has its id if that could be read.
    package typealias Item = Result<Send, Refused>

    /// A rejected send.
    package struct Refused: Error, Sendable {
        package let id: String?
        package let rejection: Rejection
    }

    private let parser = JSONParser(maximumBytes: Bounds.unpackedBody)
    private let decoder = SendDecoder(texts: JSONTexts())

    package init() {}

    /// Reads an envelope, `{"sends": [...]}`. Throws only if nothing of it can be read.
    package func decode(envelope body: [UInt8], most: Int = SendBounds.sends) throws(SendsFault) -> [Item] {
        try read(body, levelsAbove: 2) { root, body, misfits throws(SendsFault) in
            guard root.isObject else { throw .notAnObject }
            var sends: (value: JSONValue, ordinal: Int)?
            for (ordinal, (key, value)) in root.members.enumerated() where key.spells("sends") {
                sends = (value, ordinal)
            }
            guard let sends, sends.value.isArray else { throw .noSends }
            guard sends.value.count <= most else { throw .tooManySends(sends.value.count) }
            let mayHoldNUL = JSONText.mayHoldNUL(in: body.span)
            // The places of the sends are needed only if something cannot be stored.
            var ranges: [Range<Int>] = []
            if !misfits.isEmpty || mayHoldNUL,
                let array = JSONSlicer.value(
                    ofMember: sends.ordinal, ofObjectAt: JSONSlicer.root(in: body.span), in: body.span)
            {
                ranges = JSONSlicer.elements(ofArrayAt: array.lowerBound, in: body.span)
            }
            var items: [Item] = []
            items.reserveCapacity(sends.value.count)
            for value in sends.value.elements {
                let index = items.count
                let place = ranges.isEmpty ? nil : SendPlace(body: body, range: ranges[index], misfits: misfits)
                items.append(item(value, path: "sends[\(index)]", place))
            }
            return items
        }
    }

    /// Reads a single send, as on a line of a file.
    package func decode(line: [UInt8]) throws(SendsFault) -> Item {
        try read(line, levelsAbove: 0) { root, body, misfits throws(SendsFault) in
            // A line may begin with spaces.
            let range = JSONSlicer.root(in: body.span)..<body.count
            let place = SendPlace(body: body, range: range, misfits: misfits)
            return item(root, path: "send", place)
        }
    }

    private func item(_ value: JSONValue, path: String, _ place: SendPlace?) -> Item {
        guard value.isObject else {
            return .failure(
                Refused(
                    id: nil, rejection: Rejection(.notAnObject, "\(path): must be an object, not \(value.kind.words)")))
        }
        if place?.hasMended(.id, of: value) == true {
            let rejection = Rejection(.invalidID, "\(path).id: it cannot be stored")
            return .failure(Refused(id: nil, rejection: rejection))
        }
        do throws(Rejection) {
            let send = try decoder.decode(value, path: path)
            if let problem = place?.problem(in: value) ?? nestingProblem(value) {
                throw Rejection(.invalidField, "\(path)\(problem)")
            }
            return .success(send)
        } catch {
            return .failure(Refused(id: try? SendReader(value, path: path).id(), rejection: error))
        }
    }

    private func nestingProblem(_ value: JSONValue) -> String? {
        value.nestsDeeper(than: Bounds.nesting) ? ": it is nested more than \(Bounds.nesting) levels deep" : nil
    }

    /// Parses a body. If simdjson refuses something that JSON allows, this replaces it first and remembers it.
    private func read<Result>(
        _ body: [UInt8], levelsAbove: Int, _ use: (JSONValue, [UInt8], [JSONMisfit]) throws(SendsFault) -> Result
    ) throws(SendsFault) -> Result {
        guard body.count <= Bounds.unpackedBody else { throw .tooLarge(body.count) }
        defer { parser.release() }
        let whole = try parser.withDocument(body.span) { root throws(SendsFault) in try use(root, body, []) }
        if case .success(let result) = whole { return result }
        var mended = body
        let misfits: [JSONMisfit]
        do throws(JSONFault) {
            misfits = try JSONScanner.mend(&mended, limit: Bounds.nesting + levelsAbove)
        } catch {
            throw .notJSON(error.description)
        }
        let second = try parser.withDocument(mended.span) { root throws(SendsFault) in try use(root, body, misfits) }
        switch second {
        case .success(let result): return result
        case .failure(let refusal): throw .notJSON("it could not be read (\(refusal))")
        }
    }
}
