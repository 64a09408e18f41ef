import FunnelOracle
import Projections
import Telemetry

import struct Foundation.TimeZone

/// Events as the log holds them and a projector reads them: ids and codes instead of words.
struct WrittenLog {
    typealias Name = Projections.Delivery.Name

    struct Row {
        let name: Name
        let observation: Observation
    }

    /// In order of arrival, repeats in between: the log would keep none of those.
    let rows: [Row]
    private let slugs: [String]
    private let words: [Words]
    private let zones: [TimeZone]

    init(_ events: [StoredEvent], timeZone: (String) -> TimeZone) {
        var rows: [Row] = []
        var slugs: [String] = []
        var words: [Words] = []
        for stored in events {
            let place = slugs.firstIndex(of: stored.app) ?? slugs.count
            if place == slugs.count {
                slugs.append(stored.app)
                words.append(Words())
            }
            let event = stored.event
            let name = Name(
                app: Int32(place + 1), shard: Shard.of(event.source.installID, among: Shard.usual),
                install: event.source.installID,
                notificationKey: event.notificationKey ?? "")
            rows.append(Row(name: name, observation: Observation(of: event, words: &words[place])))
        }
        self.rows = rows
        self.slugs = slugs
        self.words = words
        zones = slugs.map(timeZone)
    }

    init(of history: RandomHistory) {
        self.init(history.events, timeZone: history.timeZone)
    }

    /// What arrived of each delivery, in order of arrival.
    var observations: [Name: [Observation]] {
        Dictionary(grouping: rows, by: \.name).mapValues { $0.map(\.observation) }
    }

    /// Each delivery with all its events folded at once.
    var deliveries: [Projections.Delivery] {
        observations.map { delivery($0, DeliveryState(of: $1)) }
    }

    /// A delivery of this state. In the product, PostgreSQL tells the day.
    func delivery(_ name: Name, _ state: DeliveryState) -> Projections.Delivery {
        let day = state.span.firstOccurredAt.day(in: zones[Int(name.app) - 1])
        return Projections.Delivery(name, day: day, state: state)
    }

    func slug(of app: Int32) -> String { slugs[Int(app) - 1] }

    func word(_ kind: String, _ id: Int32, of app: Int32) -> String { words[Int(app) - 1].word(kind, id) }
}
