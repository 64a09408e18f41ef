import Postgres
import TestSupport
import Testing

/// Backups of a cell: a copy of its database, which later takes its place.
extension ThreeCells {
    /// Copies a cell as it is now.
    func keep(_ place: Int) throws {
        let name = try cut(place)
        var administrator = try administrator(besides: place)
        try administrator.execute(script: "CREATE DATABASE \(name)_kept TEMPLATE \(name)")
    }

    /// Puts the copy in place of the cell.
    func restore(_ place: Int) throws {
        let name = try cut(place)
        var administrator = try administrator(besides: place)
        try administrator.execute(script: "DROP DATABASE \(name) WITH (FORCE)")
        try administrator.execute(script: "ALTER DATABASE \(name)_kept RENAME TO \(name)")
    }

    /// Ends all sessions of a cell. Returns the name of its database.
    func cut(_ place: Int) throws -> String {
        let name = databases[place].name
        var administrator = try administrator(besides: place)
        #expect(
            try eventually {
                try administrator.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = \(name)"
                )
                .count == 0
            })
        return name
    }

    /// Connected to another cell.
    private func administrator(besides place: Int) throws -> Connection {
        try databases[place == 0 ? 1 : 0].administrator()
    }
}
