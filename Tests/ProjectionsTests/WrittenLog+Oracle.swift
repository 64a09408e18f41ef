import FunnelOracle
import Projections

extension WrittenLog {
    /// What the projectors make of these deliveries and the oracle does not, or the other way round; a line for each.
    func differences(from funnels: Funnels, in deliveries: [Projections.Delivery]) -> [String] {
        let sums = FunnelSums(of: deliveries)
        return funnels.tables.flatMap { table in
            table.differences(
                in: table.view == "deliveries"
                    ? rows(of: deliveries, as: table) : sums.rows(of: table, in: self))
        }
    }
}
