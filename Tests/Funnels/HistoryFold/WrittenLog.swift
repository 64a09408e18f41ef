package import FunnelOracle
package import Projections
import Telemetry
import Values

package import struct Foundation.TimeZone

/// Events as the log holds them and a projector reads them: ids and codes instead of words.
package struct WrittenLog {
    package typealias Name = Projections.Delivery.Name

    package struct Row {
        /// Nil for an event about the install itself.
        package let name: Name?
        package let observation: Observation
        package let sighting: Sighting
        package let place: Projections.InstallDay.Name
    }

    /// In order of arrival, repeats in between: the log would keep none of those.
    package let rows: [Row]
    private let slugs: [String]
    private let words: [Words]
    private let zones: [TimeZone]

    package init(_ events: [StoredEvent], timeZone: (String) -> TimeZone) {
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
            let (app, install) = (Int32(place + 1), event.source.installID)
            let shard = Shard.of(install, among: Shard.usual)
            let key = event.type.isOfDelivery ? event.notificationKey : nil
            let name = key.map {
                Name(app: app, shard: shard, install: install, notificationKey: $0)
            }
            let observation = Observation(of: event, words: &words[place])
            rows.append(
                Row(
                    name: name, observation: observation,
                    sighting: Sighting(of: event, observation, words: &words[place]),
                    place: .init(
                        app: app, shard: shard, install: install, day: event.occurredAt.day(in: timeZone(stored.app)))))
        }
        self.rows = rows
        self.slugs = slugs
        self.words = words
        zones = slugs.map(timeZone)
    }

    package init(of history: RandomHistory) {
        self.init(history.events, timeZone: history.timeZone)
    }

    /// What arrived of each delivery, in order of arrival.
    package var observations: [Name: [Observation]] {
        Self.observations(in: rows)
    }

    static func observations(in rows: some Sequence<Row>) -> [Name: [Observation]] {
        rows.reduce(into: [:]) { found, row in
            if let name = row.name { found[name, default: []].append(row.observation) }
        }
    }

    /// What arrived of each install and day. The log keeps no repeat.
    package var sightings: [Projections.InstallDay.Name: [Sighting]] {
        var seen: Set<Sighting> = []
        return rows.reduce(into: [:]) { found, row in
            if seen.insert(row.sighting).inserted { found[row.place, default: []].append(row.sighting) }
        }
    }

    /// Each day of an install with all its events folded at once.
    var installDays: [Projections.InstallDay] {
        let states = sightings.mapValues { InstallDayState(of: $0) }
        return states.map { name, state in
            var day = Projections.InstallDay(name, state: state)
            day.findMuted(
                among: states.filter { other, _ in
                    other.app == name.app && other.install == name.install
                        && name.day.advanced(by: -Projections.InstallDay.daysBack) <= other.day && other.day <= name.day
                }.map(\.value))
            return day
        }
    }

    /// Each delivery with all its events folded at once.
    package var deliveries: [Projections.Delivery] {
        observations.map { delivery($0, DeliveryState(of: $1)) }
    }

    /// A delivery of this state. In the product, PostgreSQL tells the day.
    package func delivery(_ name: Name, _ state: DeliveryState) -> Projections.Delivery {
        let day = state.span.firstOccurredAt.day(in: zones[Int(name.app) - 1])
        return Projections.Delivery(name, day: day, state: state)
    }

    package func slug(of app: Int32) -> String { slugs[Int(app) - 1] }

    package func word(_ kind: String, _ id: Int32, of app: Int32) -> String { words[Int(app) - 1].word(kind, id) }
}
