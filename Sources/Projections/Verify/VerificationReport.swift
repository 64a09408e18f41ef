/// What `verify` found.
package struct VerificationReport: Sendable {
    /// The shards that were recounted, and where each stood.
    package internal(set) var shards: [(shard: Int16, line: Int32, position: Int64)] = []
    package internal(set) var events: Int64 = 0
    package internal(set) var deliveries: Int64 = 0
    /// Rows of all tables, on either side.
    package internal(set) var cells: Int64 = 0
    /// How many cells differ, by table; those with none are not there.
    package internal(set) var differing: [(table: String, cells: Int64)] = []
    /// The first of them.
    package internal(set) var differences: [Difference] = []
    /// The first batches that hold another number of events than were committed, and how many there are.
    package internal(set) var gaps: [BatchGap] = []
    package internal(set) var gapCount: Int64 = 0
    package internal(set) var omissions: [Omission] = []
    package internal(set) var moves: [Move] = []

    /// A projector whose tables were not compared.
    package struct Omission: Hashable, Sendable {
        package let projector: String
        package let reason: String
    }

    /// An app whose days do not all stand in its own time zone yet.
    package struct Move: Hashable, Sendable {
        package let app: String
        package let from: String
        package let to: String
    }

    /// Every cell was compared, none differs, no event is missing, and all days stand in the time zone that they should.
    package var isProved: Bool { differing.isEmpty && gapCount == 0 && omissions.isEmpty && moves.isEmpty }

    package var differingCells: Int64 { differing.reduce(0) { $0 + $1.cells } }

    mutating func count(differing cells: Int64, of table: String) {
        guard cells > 0 else { return }
        if let place = differing.firstIndex(where: { $0.table == table }) {
            differing[place].cells += cells
        } else {
            differing.append((table, cells))
        }
    }

    mutating func note(_ omission: Omission) {
        if !omissions.contains(omission) { omissions.append(omission) }
    }

    mutating func note(_ move: Move) {
        if !moves.contains(move) { moves.append(move) }
    }
}
