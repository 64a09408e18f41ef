internal import Accounts
package import Postgres
internal import Projections
internal import ServiceRuntime

/// What projections leave in a database.
package enum ProjectionTables {
    /// The names of all projections, the deliveries first.
    package static let projections = ["deliveries"] + Projectors.all.map { $0.name }

    /// The version of the rules by which each of them counts.
    package static let versions = Projectors.versions(of: Projectors.all)

    /// The funnels' views.
    package static let views = Projectors.all.flatMap { $0.tables }.filter(\.hasView).map(\.name)

    /// The tables of all projections, without their numbers.
    package static let parents = DeliveryTable.parents + Projectors.all.flatMap { $0.tables }.map(\.name)

    /// How many there are of one generation and of what is sealed: two of each.
    package static let ofOneGeneration = Int64(2 * parents.count)

    /// How many tables hold rows of projections: two for each that is read, the sealed and the live one, while none is
    /// being built or waits to be dropped.
    package static let count: Statement = """
        SELECT count(*) FROM pg_class WHERE relnamespace = 'projection'::regnamespace AND relkind = 'r'
            AND relname ~ '_[0-9]+$'
        """
}

extension TestDatabase {
    /// Waits until the funnels hold everything that was committed, as analysts are told.
    package func becomesLevel(within seconds: Double = 300) throws -> Bool {
        try lending(.analyst) { connection in
            try eventually(within: seconds) {
                connection.deadline = .after(seconds: 120)
                return try connection.query("SELECT bool_and(lag = 0) FROM analytics.projections")[0].get(0)
            }
        }
    }
}
