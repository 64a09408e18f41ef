import FunnelOracle
import HistoryFold
import Projections

/// What holds for every history of events, in whatever parts they come.
package enum HistoryLaw {
    /// Each law that the history which these bytes choose broke, in words.
    package static func broken(by bytes: [UInt8]) -> [String] {
        let history = RandomHistory(steeredBy: bytes, deliveries: 4)
        let log = WrittenLog(of: history)
        return log.differences(from: history.funnels, in: log.deliveries)
            + faultsInParts(of: log, SeededNumbers(seed: 1, steeredBy: bytes))
    }

    /// Batch by batch, as steps move funnels on, it ends where all at once does.
    private static func faultsInParts(of log: WrittenLog, _ choices: SeededNumbers) -> [String] {
        var choices = choices
        var broken: [String] = []
        var tables = FunnelTables()
        var rest = log.rows[...]
        while !rest.isEmpty {
            let count = choices.number(1...40)
            tables.apply(rest.prefix(count), of: log)
            rest = rest.dropFirst(count)
            broken += log.brokenLaws(of: tables)
        }
        if tables.sums.standing != FunnelSums(of: log.deliveries).standing {
            broken.append("funnels are others when the events come in parts")
        }
        for (name, sightings) in log.sightings where isOther(sightings, &choices) {
            broken.append("a day of \(name.install) is another when its events come in parts")
        }
        return broken
    }

    private static func isOther(_ sightings: [Sighting], _ choices: inout SeededNumbers) -> Bool {
        let states = choices.parted(sightings).map { InstallDayState(of: $0) }
        let merged = states.dropFirst().reduce(into: states[0]) { $0.merge($1) }
        return merged != InstallDayState(of: sightings)
    }
}
