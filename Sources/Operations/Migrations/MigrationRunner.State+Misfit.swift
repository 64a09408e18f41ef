package import Postgres

extension MigrationRunner.State {
    /// Why the database does not fit this program, and what to do; nil when it does.
    package var misfit: String? {
        switch self {
        case .current: nil
        case .pending(let names):
            "the database lacks \(names.count) \(names.count == 1 ? "migration" : "migrations"): run bellwether migrate"
        case .newer(let names):
            "the database is newer than this program (\(names.joined(separator: ", "))): use a newer bellwether"
        case .drifted(let names): MigrationRunner.drift(names)
        }
    }
}
