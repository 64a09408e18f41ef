import CatalogueSupport
import Clusters
import Envelopes
import EventLog
import Postgres
import Telemetry
import TestSupport
import Testing
import Values

/// Three cells with events in each, and a hub.
struct FilledCells {
    let cells: ThreeCells
    let hub: TestDatabase
    /// By cell: installs with a receipt and a tap each.
    let installs: [[UUID]]

    /// `months` are the times of the events, for each cell.
    init(installs count: Int = 2, at times: [Timestamp] = [Event.sampleTime]) throws {
        cells = try ThreeCells()
        hub = try cells.makeHub()
        installs = try (0..<3).map { [cells] place in
            try (0..<count).map { _ in try #require(UUID(cells.install(of: place))) }
        }
        for place in 0..<3 {
            for time in times { try add(installs[place], to: place, at: time) }
        }
        try project()
    }

    func drop() {
        cells.drop()
        hub.drop()
    }

    var all: [TestDatabase] { cells.databases + [hub] }

    /// The command line as somebody uses it who was given the hub.
    var bellwether: Bellwether { get throws { try Bellwether(hub) } }

    /// A receipt and a tap of each install, received at that time.
    func add(
        _ installs: [UUID], to place: Int, at time: Timestamp, receivedAt: Timestamp? = nil, category: String = "NEWS"
    ) throws {
        let events = installs.flatMap { install in
            let interactions: [Interaction] = [
                .received(Receipt(via: .serviceExtension)), .actionTapped(ActionTap(actionID: "READ")),
            ]
            return interactions.enumerated().map { index, interaction in
                Event.sample(
                    at: time + Int64(index) * 1_000_000, receivedAt: receivedAt, install: install, category: category,
                    interaction: interaction)
            }
        }
        _ = try cells.databases[place].appender().append(
            [cells.app.submission(events, receivedAt: receivedAt ?? time)], checking: .place)
    }

    func project() throws {
        for database in cells.databases { _ = try Bellwether(database).trusted("project", "--once") }
    }

    /// What a query of the hub finds.
    func seen(_ query: String) throws -> [String] { try hub.analystRows(query) }
}
