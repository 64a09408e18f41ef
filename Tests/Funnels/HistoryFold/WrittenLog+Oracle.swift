package import FunnelOracle
package import Projections

extension WrittenLog {
    /// What the projectors make of these deliveries and the oracle does not, or the other way round; a line for each.
    package func differences(from funnels: Funnels, in deliveries: [Projections.Delivery]) -> [String] {
        let shown = tables(of: FunnelSums(of: deliveries, installDays), behind: deliveries)
        // What `installs` shows is made by its view, and what a goal counts for is found in the database.
        let made = [InstallRow.view] + Funnels.ofGoals
        return zip(funnels.tables, shown).filter { !made.contains($0.0.view) }.flatMap {
            $0.differences(in: $1.rows)
        }
    }

    /// The funnels and the deliveries behind them, as their views show them.
    func tables(of sums: FunnelSums, behind deliveries: [Projections.Delivery]) -> [FunnelTable] {
        Funnels().tables.map { table in
            table.with(
                table.view == FunnelOracle.DeliveryRow.view
                    ? rows(of: deliveries, as: table) : sums.rows(of: table, in: self))
        }
    }

    /// The laws that these sums break; a count below 0 is told of those shards that have it.
    package func brokenLaws(of tables: FunnelTables) -> [String] {
        tables.sums.tables.values.joined().filter { $1.contains { $0 < 0 } }.map { "a count below 0: \($0.key)" }
            + FunnelLaws.broken(by: self.tables(of: tables.sums, behind: tables.deliveries(of: self)))
    }
}
