package import Postgres
internal import ServiceRuntime

/// Why something cannot be done with a cluster, for the person who asked.
package enum ClusterError: Error, Sendable, CustomStringConvertible {
    case invalidName(String)
    case notInCluster
    case alreadyIn(cell: String)
    case nameTaken(String)
    case placeTaken(by: String)
    case holdsPassword
    case otherUser(String, own: String?)
    case inAnotherCluster
    case otherShards(Int16, own: Int16)
    case notEmpty(String)
    case unfit(cell: String, reason: String)
    case unknownCell(String)
    case unknownShard(Int16, count: Int)
    case hasShards([Int16], cell: String)
    case isFirst(String)
    /// Another cell has rows that the first one does not have.
    case firstLacks(String, of: String, first: String)
    /// Retention has begun to remove months of a cell whose shards are to be moved.
    case halfRemoved(months: [String], cell: String)
    /// Months of the old cell whose events the new one cannot take now.
    case noMonths([String], cell: String)
    /// It came back from a backup that is older than a move.
    case isRestored(cell: String)
    /// More events arrive than can be copied.
    case cannotKeepUp(shards: [Int16], cell: String, rate: Int?)
    /// The copy is not what the original is.
    case notProved(shards: [Int16], cell: String, difference: String)
    /// Somebody has been reading a hub for too long.
    case hubIsRead(hub: String)
    case isHub(String)
    /// Only a superuser can permit what a hub does.
    case notPermitted(hub: String, script: String)
    indirect case hubCannotRead(hub: String, ClusterError)
    /// Somebody else changed the map at the same time.
    case overtaken
    case unreachable(cell: String, PostgresError)
    /// A process of the service says that it cannot work in a cell.
    case unreached(cell: String, node: String, login: String, fault: String)
    /// Logins of the service that a cell does not have.
    case noLogin([String], cell: String)
    /// A database that is not the cell whose place it is said to be.
    case isNotCell(String)
    /// A copy of a database that is in the cluster.
    case isCopy(of: String)
    /// A former cell that is to be a hub, or the other way round.
    case wasOther(isHub: Bool)
    case database(PostgresError)

    static func named(_ shards: [Int16]) -> String {
        "\(shards.count == 1 ? "shard" : "shards") \(shards.map { "\($0)" }.joined(separator: ", "))"
    }

    package var description: String {
        switch self {
        case .invalidName(let name):
            "'\(String(printable: name))' cannot name a cell: "
                + "use 1 to 63 of a-z, 0-9, - and _, the first a letter or digit"
        case .notInCluster:
            "this database belongs to no cluster: make it the first cell with bellwether cluster create --name NAME"
        case .alreadyIn(let cell): "this database is already the cell '\(cell)' of a cluster"
        case .nameTaken(let name): "the cluster has a cell '\(name)' already: choose another name"
        case .placeTaken(let cell): "this is the database of the cell '\(cell)'"
        case .holdsPassword:
            "every cell keeps where the others are, so there must be no password in it: give it by PGPASSWORD, "
                + "PGPASSFILE or a service file"
        case .otherUser(let user, let own):
            "the processes of a cluster log in to all cells with the same name"
                + "\(own.map { " (here '\(String(printable: $0))')" } ?? ""): "
                + "leave '\(String(printable: user))' out of the URL"
        case .inAnotherCluster: "that database belongs to another cluster"
        case .otherShards(let other, let own):
            "that database has \(other) shards, and this one \(own): "
                + "all cells have the same number, which never changes"
        case .notEmpty(let what): "that database has \(what) of its own already: add an empty one"
        case .unfit(let cell, let reason): "cell '\(cell)': \(reason)"
        case .unknownCell(let name):
            "the cluster has no cell '\(String(printable: name))': see bellwether cluster status"
        case .unknownShard(let shard, let count): "there is no shard \(shard): the shards are 0 to \(count - 1)"
        case .hasShards(let shards, let cell):
            "'\(cell)' has \(Self.named(shards)): move them to another cell first (bellwether cluster move)"
        case .isFirst(let name):
            "everything that all cells share begins in '\(name)', the first cell, so it stays in the cluster"
        case .firstLacks(let table, let cell, let first):
            "nothing was changed: \(table) of the cell '\(cell)' has rows that '\(first)', the first cell, does not have, "
                + "as after a restore. Bring them back first: bellwether cluster check --accept-loss \(first)"
        case .halfRemoved(let months, let cell):
            "retention has not finished removing \(months.joined(separator: ", ")) in cell '\(cell)': "
                + "run bellwether retain again first"
        case .noMonths(let months, let cell):
            "cell '\(cell)' has no partitions for \(months.joined(separator: ", ")), because somebody reads its events "
                + "for long or has sent it too many of these months: try again later"
        case .isRestored(let cell):
            "'\(cell)' cannot tell what became of its shards, since it was restored from a backup that is older than a "
                + "move: run bellwether cluster check first"
        case .cannotKeepUp(let shards, let cell, let rate):
            "events of \(Self.named(shards)) come in faster than '\(cell)' gets them; nothing has changed for senders "
                + "and readers. The same command again continues"
                + (rate.map { ": give it more than --rate \($0), or none" }
                    ?? ", best with fewer shards at once or when fewer events come in")
        case .notProved(let shards, let cell, let difference):
            "the copy of \(Self.named(shards)) in cell '\(cell)' is not proved: \(difference). The old cell still has "
                + "everything, and hubs show that"
        case .hubIsRead(let hub):
            "somebody has been reading the hub '\(hub)' in one transaction for over a minute, and must not see two "
                + "maps: when that has ended, the same command again continues"
        case .isHub(let name): "'\(name)' is a hub, which takes no events: choose a cell"
        case .notPermitted(let hub, let script):
            "the owner of the hub '\(hub)' may not reach other databases from it. Name a superuser of that database "
                + "with --superuser URL, or run this there as one: \(script)"
        case .hubCannotRead(let hub, let error):
            "'\(hub)' is a hub of the cluster, but cannot read its cells yet: \(error). Then run the same command "
                + "again; where a cell asks for no password, with --superuser URL"
        case .unreached(let cell, let node, let login, let fault):
            "the process '\(String(printable: node))' cannot work in cell '\(cell)' as \(String(printable: login)), "
                + "and would refuse all events of these shards: "
                + "\(String(printable: fault.hasSuffix(".") ? String(fault.dropLast()) : fault)). Create its login "
                + "there (with the role bellwether_ingest), give the process its password by PGPASSWORD or PGPASSFILE, "
                + "not in its URL, and try again half a minute later"
        case .noLogin(let logins, let cell):
            "cell '\(cell)' has no login \(logins.map { "'\(String(printable: $0))'" }.joined(separator: ", ")) with "
                + "the role bellwether_ingest, as the other cells have, so processes of the service would refuse all "
                + "events of these shards. Create it there: CREATE ROLE … LOGIN PASSWORD …; GRANT bellwether_ingest TO "
                + "…"
        case .isNotCell(let name):
            "the database there is not the cell '\(String(printable: name))': nothing has changed. Give the URL under "
                + "which that cell answers now"
        case .isCopy(let name):
            "that database is a copy of the cell '\(name)', which is in the cluster: add an empty one"
        case .wasOther(let isHub):
            isHub
                ? "that database was a hub of this cluster: add it with --hub"
                : "that database was a cell of this cluster: add it without --hub"
        case .overtaken: "somebody else changed the cluster at the same time: try again"
        case .unreachable(let cell, let error): "the cell '\(cell)' cannot be reached: \(error)"
        case .database(let error): error.description
        }
    }
}

extension ClusterError {
    /// What went wrong in a cell, with its name.
    package init(inCell cell: String, _ error: any Error) {
        switch (error as? any DatabaseFailure)?.ofDatabase {
        case _ where error is ClusterError: self.init(error)
        case let reason? where reason.isUnavailable: self = .unreachable(cell: cell, reason)
        default: self = .unfit(cell: cell, reason: "\(error)")
        }
    }
}

extension ClusterError: DatabaseFailureCase {
    package var ofDatabase: PostgresError? {
        switch self {
        case .database(let error), .unreachable(_, let error): error
        case .hubCannotRead(_, let error): error.ofDatabase
        default: nil
        }
    }
}
