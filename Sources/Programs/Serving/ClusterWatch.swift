internal import Accounts
internal import EventLog
internal import Ingestion
internal import Postgres
internal import ServiceRuntime

/// Follows the map of the cluster, if the database belongs to one: starts what takes the events of a new cell, ends
/// what took those of a cell that has left, and says where events go.
///
/// Outside a cluster it looks once and then waits: a writer hears of the first map at its next commit. Inside one it
/// looks each second, at its own cell, or at the next one if that cannot be asked; and each ten seconds at another one,
/// since its own may have left.
final class ClusterWatch: Sendable {
    private struct State {
        var hasLooked = false
        var map: ClusterMap?
        /// The newest epoch that a writer has heard of.
        var heard: Int64 = 0
        /// The number of the process's own cell.
        var home: Int16 = 0
        /// What runs for the other cells.
        var others: [ClusterMap.Cell: CellService] = [:]
        /// What passes on to the hubs what all cells have.
        var hubs: [ClusterMap.Cell: HubFeed] = [:]
        /// What ends what ran for cells and hubs that have left. If their server stands still, that takes as long as
        /// their deadlines.
        var leaving: [Worker] = []
        /// Whether each cell has taken events, or was known to be away.
        var hasSettled = false
        /// The place of the cell that is asked, among those that may be.
        var turns = 0
        /// How often a map was read that was no news.
        var looks = 0
    }

    private let worker = DatabaseWorker(State())
    private let url: String
    private let home: CellService
    private let destinations: Destinations
    private let keys: KeyDirectory
    private let mostConnections: Int
    private let log: Log
    private let make: @Sendable (_ url: String) -> CellService

    /// `make` makes what runs for another cell.
    init(
        url: String, home: CellService, destinations: Destinations, keys: KeyDirectory, mostConnections: Int, log: Log,
        make: @escaping @Sendable (_ url: String) -> CellService
    ) {
        (self.url, self.home, self.destinations, self.keys) = (url, home, destinations, keys)
        (self.mostConnections, self.log, self.make) = (mostConnections, log, make)
    }

    /// Whether it knows the map, or that there is none, and every cell could be reached or was found to be away.
    var hasSettled: Bool {
        let (hasLooked, hasSettled, others) = worker.withLock { ($0.hasLooked, $0.hasSettled, $0.others) }
        guard hasLooked, !hasSettled else { return hasSettled }
        let isSettled = ([home] + others.values).allSatisfy(\.isSettled)
        worker.withLock { $0.hasSettled = isSettled }
        return isSettled
    }

    /// The cells by name, and why each takes no events, if it takes none; empty outside a cluster.
    var cells: [String: String?] {
        let (map, number, others) = worker.withLock { ($0.map, $0.home, $0.others) }
        var cells: [String: String?] = [:]
        for cell in map?.cells ?? [] where !cell.isHub {
            cells[cell.name] = .some(cell.number == number ? home.fault : others[cell].flatMap(\.fault))
        }
        return cells
    }

    /// The databases of the cluster as this process sees them, its own first; none outside a cluster, or before each of
    /// its cells has been reached or found to be away.
    var databases: [ClusterLookout.Database] {
        guard hasSettled else { return [] }
        let (map, number, others) = worker.withLock { ($0.map, $0.home, $0.others) }
        let cells = (map?.cells ?? []).filter { $0.isHub || $0.number == number || others[$0]?.isSettled == true }
        let databases = cells.map { cell in
            cell.number == number
                ? ClusterLookout.Database(cell: cell, url: url, fault: home.complaint)
                : ClusterLookout.Database(cell: cell, url: url(of: cell), fault: others[cell].flatMap(\.complaint))
        }
        return databases.filter { $0.cell.number == number } + databases.filter { $0.cell.number != number }
    }

    /// A writer has heard of a map with this epoch.
    func hear(of epoch: Int64) { worker.notify { state, _ in state.heard = max(state.heard, epoch) } }

    func start() { worker.start(["cluster"]) { _ in self.run() } }

    /// Ends itself and what runs for other cells. Commits what waits there.
    func stop() {
        worker.stop()
        let (others, hubs, leaving) = worker.withLock { (Array($0.others.values), Array($0.hubs.values), $0.leaving) }
        for hub in hubs { hub.stop() }
        for cell in others { cell.commits.askToStop() }
        for cell in others { cell.stop() }
        for one in leaving { one.join() }
    }

    private func run() {
        worker.keep(Backoff(first: 0.05, most: 1)) { () throws(PostgresError) -> Connection? in
            let url: String? = worker.next { state in
                state.hasLooked && state.map == nil && state.heard == 0 ? nil : self.url(state)
            }
            guard let url else { return nil }
            return try LogSession.open(url: url, role: .ingest, purpose: "cluster map", log: log, statementSeconds: 5)
        } work: { connection, backoff throws(PostgresError) in
            while !worker.isStopping {
                connection.deadline = .after(seconds: 5)
                let map = try ClusterMap.read(on: &connection)
                worker.goOn()
                backoff.reset()
                guard let map else { return worker.withLock { ($0.hasLooked, $0.heard) = (true, 0) } }
                follow(map)
                let isBehind = worker.withLock { state in
                    // At first each cell is asked once: its own may have been restored from an old backup.
                    if !state.hasLooked {
                        state.turns += 1
                        guard state.turns >= self.urls(state).count else { return true }
                        (state.hasLooked, state.turns) = (true, 0)
                        return true
                    }
                    guard map.epoch < state.heard else { return false }
                    state.turns += 1
                    // A writer may have heard of it in a cell that is away by now.
                    if state.turns % self.urls(state).count == 0 { state.heard = 0 }
                    return true
                }
                // Another cell has the map already that this one will get in a moment.
                if isBehind { return worker.rest(0.05) }
                let hasHeard: Bool? = worker.next(by: Deadline.after(seconds: 1)) { state in
                    state.heard > map.epoch ? true : nil
                }
                if hasHeard == nil, worker.withLock({ state in turn(&state, after: map) }) { return }
            }
        } failed: { error, isNews in
            worker.withLock { $0.turns += 1 }
            if isNews { log.debug("the map of the cluster cannot be read", ["error": "\(error)"]) }
        }
    }

    /// Whether another cell is to be asked next than the one that had this map. A cell may never get the next one, and
    /// of a shard that nobody takes no writer hears anything.
    private func turn(_ state: inout State, after map: ClusterMap) -> Bool {
        state.looks += 1
        let isUncertain = state.map.map { map.epoch < $0.epoch || $0.holders.contains(0) } ?? false
        let isFirst = state.turns % urls(state).count == 0
        if isUncertain || isFirst && state.looks % 10 == 0 {
            state.turns += 1
            return true
        }
        if !isFirst { state.turns = 0 }
        return !isFirst
    }

    /// The database to ask now: its own first.
    private func url(_ state: State) -> String {
        let urls = urls(state)
        return urls[state.turns % urls.count]
    }

    /// Those that may be asked. A hub hears of a map last.
    private func urls(_ state: State) -> [String] {
        guard let cells = state.map?.cells else { return [url] }
        let others = cells.filter { $0.number != state.home && !$0.isHub }.map(url)
        return cells.contains { $0.number == state.home } ? [url] + others : others
    }

    private func url(of cell: ClusterMap.Cell) -> String { cell.url(for: ConnectionString.user(of: url)) }

    /// Goes by this map from now on, if it is newer.
    private func follow(_ map: ClusterMap) {
        let known = worker.withLock { state in
            if state.map == nil { state.home = map.own }
            return (map: state.map, number: state.home, others: state.others, hubs: state.hubs)
        }
        guard map.cluster == known.map?.cluster ?? map.cluster else {
            return log.error("a cell belongs to another cluster: its map is not followed", ["cell": "\(map.own)"])
        }
        guard map.epoch > known.map?.epoch ?? 0 else { return }
        var others: [ClusterMap.Cell: CellService] = [:]
        // A hub takes no events.
        let services = map.cells.filter { !$0.isHub || $0.number == known.number }.map { cell in
            if cell.number == known.number { return (cell, home) }
            let service = known.others[cell] ?? make(url(of: cell))
            others[cell] = service
            if known.others[cell] == nil { service.start() }
            return (cell, service)
        }
        // Each waiting request holds a connection. The requests for one cell must leave some to the others.
        let most = services.count > 1 ? max(16, mostConnections / (services.count + 1)) : Int.max
        for (_, service) in services { service.commits.limit(parts: most) }
        var hubs: [ClusterMap.Cell: HubFeed] = [:]
        for hub in map.cells where hub.isHub && hub.number != known.number {
            let first = map.first.map { $0.number == known.number ? url : url(of: $0) } ?? url
            hubs[hub] = known.hubs[hub] ?? HubFeed(of: url(of: hub), from: first, name: hub.name, log: log)
            if known.hubs[hub] == nil { hubs[hub]?.start() }
        }
        destinations.follow(
            map, services.map { $0.1.destination($0.0.number) },
            hubs: hubs.values.map { hub in { rows in hub.pass(on: rows) } })
        // A cell that has left the cluster hears of no new key.
        let own = map.cells.contains { $0.number == known.number } ? [url] : []
        keys.use(own + others.keys.sorted { $0.number < $1.number }.map(url))
        worker.withLock { [others, hubs] state in (state.map, state.others, state.hubs) = (map, others, hubs) }
        if known.map == nil, ConnectionString.hasPassword(url) {
            log.warning(
                "the password in the URL of this process opens its own cell alone: "
                    + "give it by PGPASSWORD, PGPASSFILE or a service file, which open the others, too"
            )
        }
        log.info(
            "following the map of the cluster",
            ["epoch": "\(map.epoch)", "cells": map.cells.map(\.name).joined(separator: ", ")])
        let gone = known.others.filter { others[$0.key] == nil }.values
        let unread = known.hubs.filter { hubs[$0.key] == nil }.values
        guard !gone.isEmpty || !unread.isEmpty else { return }
        let leaving = Worker(name: "cell leaves") {
            for cell in gone { cell.commits.askToStop() }
            for hub in unread { hub.stop() }
            for cell in gone { cell.stop() }
        }
        worker.withLock { $0.leaving.append(leaving) }
    }
}
