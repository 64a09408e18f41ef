internal import Accounts
package import EventLog
package import Postgres
package import ServiceRuntime
internal import Telemetry
internal import Values

/// What takes the events of some installs: a database with its writers, whose waiting uses up nothing of another's.
package final class Destination: Sendable {
    /// The number of its cell; 0 outside a cluster.
    package let number: Int16
    let commits: GroupCommit
    let requestWorker: RequestWorker
    /// Why a time of this machine's clock must not correct the times of what it stores; nil if it may.
    let clockFault: @Sendable (ClockReading) -> String?

    package init(
        number: Int16 = 0, commits: GroupCommit, requestWorker: RequestWorker,
        clockFault: @escaping @Sendable (ClockReading) -> String? = { _ in nil }
    ) {
        self.number = number
        self.commits = commits
        self.requestWorker = requestWorker
        self.clockFault = clockFault
    }

    /// Whether it takes events now.
    package var isConnected: Bool { commits.isConnected && requestWorker.isConnected }
}

/// Where events go: to one database, or to the cells of a cluster by the shard of their install. The map may change at
/// any time. An old map does no harm, since each cell refuses what is not its own.
package final class Destinations: Sendable {
    /// One state of the map. Never empty.
    final class Table: Sendable {
        let all: [Destination]
        /// What passes on to each hub what all databases of the cluster have.
        let hubs: [@Sendable ([SharedTable.Rows]) -> Void]
        /// The number of the map; 0 outside a cluster.
        let epoch: Int64
        /// Called with the number of a newer one.
        let learned: @Sendable (Int64) -> Void
        /// The place in `all` of each shard's cell; nil while the shard is being moved. Empty outside a cluster.
        private let holders: [Int?]

        init(
            _ all: [Destination], holders: [Int?], hubs: [@Sendable ([SharedTable.Rows]) -> Void] = [],
            epoch: Int64 = 0, learned: @escaping @Sendable (Int64) -> Void
        ) {
            (self.all, self.holders, self.hubs) = (all, holders, hubs)
            (self.epoch, self.learned) = (epoch, learned)
        }

        /// The place of the cell that takes an install's events.
        func place(of install: UUID) -> Int? {
            holders.isEmpty ? 0 : holders[Int(Shard.of(install, among: Int16(holders.count)))]
        }

        /// Queues all parts of a request that was received then, or none. No part waits for a destination that has no
        /// part of it.
        func submit(_ parts: [GroupCommit.Part], received: ClockReading) throws(GroupCommit.Refusal) {
            guard all.count > 1 else {
                try first.commits.reserve(parts)
                return first.commits.enqueue(parts)
            }
            let byDestination = Dictionary(grouping: parts) { $0.destination }
            var reserved: [Int] = []
            do throws(GroupCommit.Refusal) {
                for (place, parts) in byDestination {
                    try all[place].commits.reserve(parts)
                    reserved.append(place)
                    if let fault = all[place].clockFault(received) { throw .wrongClock(fault) }
                }
            } catch {
                for place in reserved { all[place].commits.giveBack(byDestination[place] ?? []) }
                throw error
            }
            for (place, parts) in byDestination { all[place].commits.enqueue(parts) }
        }

        /// The place of a cell for what belongs to no install.
        var anywhere: Int { all.firstIndex { $0.isConnected } ?? 0 }

        /// The cell in which everything begins that all cells have.
        var first: Destination { all[0] }
    }

    private let current: Lock<Table>
    private let learned: @Sendable (Int64) -> Void

    /// Begins with one database that has all shards. `learned` is called with the number of a map that a database is
    /// found to have.
    package init(_ only: Destination, learned: @escaping @Sendable (Int64) -> Void = { _ in }) {
        self.learned = learned
        current = Lock(Table([only], holders: [], learned: learned))
    }

    var table: Table { current.withLock { $0 } }

    /// Goes by this map from now on. `cells` are those that the map names, in the order of their numbers; `hubs` pass
    /// on what all databases have.
    package func follow(
        _ map: ClusterMap, _ cells: [Destination], hubs: [@Sendable ([SharedTable.Rows]) -> Void] = []
    ) {
        let places = Dictionary(uniqueKeysWithValues: cells.enumerated().map { ($0.element.number, $0.offset) })
        let table = Table(
            cells, holders: map.holders.map { places[$0] }, hubs: hubs, epoch: map.epoch, learned: learned)
        current.withLock { $0 = table }
    }

    /// Why no time can be corrected by this one, for any install.
    func clockFault(of reading: ClockReading) -> String? {
        let all = table.all
        let faults = all.compactMap { $0.clockFault(reading) }
        return faults.count == all.count ? faults.first : nil
    }

    /// Bytes of events that wait for a commit.
    package var queued: Int { table.all.reduce(0) { $0 + $1.commits.queued } }
}
