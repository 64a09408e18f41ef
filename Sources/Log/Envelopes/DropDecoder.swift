import JSON
import Telemetry
import Values

/// Reads the envelope's `dropped`. Errors there are reported, and reject no event.
enum DropDecoder {
    /// `isDamaged` says whether the entry at an index contains something that cannot be stored.
    static func decode(
        _ value: JSONValue?, isDamaged: (Int) -> Bool
    ) -> (drops: [ClientDrop], problems: [String]) {
        guard let value, !value.isVoid else { return ([], []) }
        guard value.isArray else { return ([], ["dropped: must be an array, not \(value.kind.words)"]) }
        var (drops, problems): ([ClientDrop], [String]) = ([], [])
        let reader = ObjectReader<DropMember>(DropMember.keys)
        for (index, entry) in value.elements.enumerated() {
            guard index < Bounds.drops else {
                problems.append("dropped: has more than \(Bounds.drops) entries; the rest is not read")
                break
            }
            do throws(Rejection) {
                guard !isDamaged(index) else { throw unreadable(index) }
                drops.append(try drop(entry, at: index, reader))
            } catch {
                problems.append(error.detail)
            }
        }
        return (drops, problems)
    }

    private static func drop(
        _ entry: JSONValue, at index: Int, _ reader: ObjectReader<DropMember>
    ) throws(Rejection) -> ClientDrop {
        guard entry.isObject else { throw unreadable(index) }
        reader.begin(entry, .dropped(index))
        guard let id = reader[.id]?.uuid else { throw reader.invalid(.id, "must be a UUID") }
        guard let count = try reader.integer(.count, in: Bounds.count) else {
            throw reader.invalid(.count, "is required")
        }
        return ClientDrop(id: id, count: count, since: try reader.time(.since), reason: try reader.word(.reason))
    }

    private static func unreadable(_ index: Int) -> Rejection {
        Rejection(.invalidField, "dropped[\(index)]: must be an object with values that can be stored")
    }
}
