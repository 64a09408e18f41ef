package import Values

/// A cell that is not what the log says.
package struct Difference: Sendable {
    package let table: String
    package let shard: Int16
    /// What names the cell, column for column, as people know it: slugs and words, not ids.
    package let key: [(column: String, text: String)]
    /// Only the columns that differ. Nil on a side that has no such cell.
    package let values: [(column: String, stored: String?, recounted: String?)]
    /// The first few of the deliveries behind it.
    package let deliveries: [Delivery]

    /// A delivery behind a cell.
    package struct Delivery: Sendable {
        package let install: UUID
        package let notificationKey: String
        /// Whether its own row is not what the log says; nil where nobody keeps the rows of deliveries up to date.
        package let differs: Bool?
    }

    /// The projection has no such cell.
    package var isMissing: Bool { values.allSatisfy { $0.stored == nil } }

    /// The projection should have no such cell.
    package var isSurplus: Bool { values.allSatisfy { $0.recounted == nil } }

    /// `texts` holds the key, then all values as stored, then all as recounted.
    init(of recount: Recount, in shard: Int16, texts: [String?], deliveries: [Delivery]) {
        table = recount.table
        self.shard = shard
        self.deliveries = deliveries
        key = zip(recount.key, texts).map { ($0.name, $1 ?? "") }
        let stored = texts.dropFirst(recount.key.count)
        let recounted = stored.dropFirst(recount.values.count)
        values = zip(recount.values, zip(stored, recounted)).map { ($0.name, $1.0, $1.1) }
            .filter { !Difference.isSame($0.1, $0.2) }
    }

    /// Byte for byte, as PostgreSQL compares.
    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}
