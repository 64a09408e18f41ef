import FunnelOracle

/// An app's dictionary as the log keeps it: each word of each kind has an id of its own, counted from 1, by its bytes.
struct Words {
    private struct Entry: Hashable {
        /// The column that holds it.
        let kind: String
        let word: Label
    }

    private var ids: [Entry: Int32] = [:]
    private var entries: [Entry] = []

    /// 0 for no word.
    mutating func id(_ kind: String, _ word: String?) -> Int32 {
        guard let word else { return 0 }
        let entry = Entry(kind: kind, word: Label(word))
        if let id = ids[entry] { return id }
        entries.append(entry)
        ids[entry] = Int32(entries.count)
        return Int32(entries.count)
    }

    /// The word behind an id; `''` for 0, and something that no row expects for the id of another kind.
    func word(_ kind: String, _ id: Int32) -> String {
        guard id != 0 else { return "" }
        let entry = entries[Int(id) - 1]
        return entry.kind == kind ? entry.word.text : "\(entry.kind) \(entry.word.text)"
    }
}
