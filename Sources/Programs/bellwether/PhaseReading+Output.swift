internal import Console
internal import Health
internal import ServiceRuntime

extension PhaseReading {
    /// What is older says nothing about now.
    static let secondsShown = 600.0

    /// A line for each process and kind of work, the phase that took most first.
    static func table(_ readings: [PhaseReading]) -> String {
        let most = 20
        var table = TextTable(["WORK", "NODE", "UNTIL", "PIECES", "SECONDS", "WHERE THEY WENT"])
        for reading in readings.prefix(most) {
            table.add([
                reading.work, String(printable: reading.node), "\(reading.notedAt)", "\(reading.pieces)",
                "\((reading.all * 1000).rounded() / 1000)", reading.shares,
            ])
        }
        return table.text + (readings.count > most ? "and \(readings.count - most) more\n" : "")
    }

    private var all: Double { phases.reduce(0) { $0 + $1.seconds } }

    private var shares: String {
        phases.sorted { $0.seconds > $1.seconds }.map { name, seconds in
            "\(name) \(Int(saturating: 100 * seconds / max(all, .leastNormalMagnitude))) %"
        }.joined(separator: ", ")
    }

    var object: JSONObject {
        [
            "work": work, "node": node, "until": "\(notedAt)", "window_seconds": windowSeconds, "pieces": pieces,
            "seconds": phases.map { ["phase": $0.name, "seconds": $0.seconds] as JSONObject },
        ]
    }
}
