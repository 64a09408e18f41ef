internal import Postgres
internal import Telemetry
internal import Values

/// The events of a step, and their words.
struct StepEvents {
    private(set) var events: [StepEvent] = []
    /// The notification keys of all events, one after another.
    private var keys: [UInt8] = []
    let words: EventWords

    /// The events of all deliveries, delivery by delivery.
    private var ordered: [Int32] = []

    init(_ words: EventWords) { self.words = words }

    /// Bytes of memory, roughly.
    var bytes: Int { events.count * MemoryLayout<StepEvent>.stride + keys.count }

    mutating func reserve(_ count: Int) { events.reserveCapacity(count) }

    /// Takes a field with a notification key, which belongs to the next event.
    mutating func takeKey(_ fields: inout CopyFields) -> (start: Int32, count: Int32) {
        let start = Int32(clamping: keys.count)
        return (start, fields.append(to: &keys).map { Int32(clamping: $0) } ?? -1)
    }

    mutating func append(_ event: StepEvent) { events.append(event) }

    mutating func findDays(on connection: inout Connection) throws(PostgresError) {
        try LocalDays.find(of: &events, on: &connection)
    }
}

/// What a step learned about one delivery.
struct DeliveryNews {
    let key: Int64
    let name: Delivery.Name
    /// Where its events are among the ordered ones; empty if only its goals changed.
    var events = 0..<0
}

extension StepEvents {
    /// What is new of each delivery, in the order of the index, since neighbours share its pages.
    mutating func deliveries(of table: DeliveryTable) -> [DeliveryNews] {
        var places: [(key: Int64, event: Int32)] = []
        places.reserveCapacity(events.count)
        for (index, event) in events.enumerated() where event.isOfDelivery {
            places.append((table.key(of: event, keys.span.extracting(range(event))), Int32(index)))
        }
        places.sort { $0.key != $1.key ? $0.key < $1.key : $0.event < $1.event }
        ordered.removeAll(keepingCapacity: true)
        ordered.reserveCapacity(places.count)
        var news: [DeliveryNews] = []
        var start = 0
        while start < places.count {
            let key = places[start].key
            var end = start + 1
            while end < places.count, places[end].key == key { end += 1 }
            // Almost always one delivery has the number.
            var rest = places[start..<end].map(\.event)
            while let first = rest.first {
                let begin = ordered.count
                var others: [Int32] = []
                for event in rest {
                    if isSameDelivery(event, first) { ordered.append(event) } else { others.append(event) }
                }
                news.append(DeliveryNews(key: key, name: name(of: events[Int(first)]), events: begin..<ordered.count))
                rest = others
            }
            start = end
        }
        return news
    }

    private func range(_ event: StepEvent) -> Range<Int> {
        Int(event.keyStart)..<Int(event.keyStart) + Int(max(0, event.keyCount))
    }

    private func isSameDelivery(_ one: Int32, _ other: Int32) -> Bool {
        if one == other { return true }
        let (one, other) = (events[Int(one)], events[Int(other)])
        guard one.install == other.install, one.app == other.app, one.keyCount == other.keyCount else { return false }
        let (left, right) = (keys.span.extracting(range(one)), keys.span.extracting(range(other)))
        for place in left.indices where left[place] != right[place] { return false }
        return true
    }

    func name(of event: StepEvent) -> Delivery.Name {
        Delivery.Name(
            app: event.app, shard: event.shard, install: event.install,
            notificationKey: String(decoding: keys[range(event)], as: UTF8.self))
    }

    /// The state of a delivery that has only these events, and the day of the earliest one.
    func fold(_ news: DeliveryNews) throws(PostgresError) -> (state: DeliveryState, day: CivilDate) {
        var observations: [Observation] = []
        observations.reserveCapacity(news.events.count)
        var earliest = events[Int(ordered[news.events.lowerBound])]
        for place in ordered[news.events] {
            let event = events[Int(place)]
            if event.occurredAt < earliest.occurredAt { earliest = event }
            observations.append(try Observation(event, words))
        }
        return (DeliveryState(of: observations), earliest.day)
    }

    /// When the first and the last of a delivery's events were, by the device's clock.
    func deviceTimes(of news: DeliveryNews) -> (first: Timestamp, last: Timestamp)? {
        let times = ordered[news.events].lazy.map { events[Int($0)].deviceAt }
        guard let first = times.min(), let last = times.max() else { return nil }
        return (first, last)
    }
}

/// What a step learned about an install on a day.
struct InstallNews {
    let key: Int64
    let name: InstallDay.Name
    var sightings: [Sighting]
}

extension StepEvents {
    /// What is new of each install on each day. All days of an install come one after another.
    func installs(of table: InstallDayTable) throws(PostgresError) -> [InstallNews] {
        var places: [(key: Int64, event: Int32)] = []
        places.reserveCapacity(events.count)
        for (index, event) in events.enumerated() {
            let key = table.key(of: event.install, app: event.app, daySince1970: Int(event.daySince1970))
            places.append((key, Int32(index)))
        }
        places.sort { left, right in
            let (one, other) = (InstallDayTable.installBits(of: left.key), InstallDayTable.installBits(of: right.key))
            return one != other ? one < other : left.key != right.key ? left.key < right.key : left.event < right.event
        }
        var news: [InstallNews] = []
        var start = 0
        while start < places.count {
            let key = places[start].key
            var end = start + 1
            while end < places.count, places[end].key == key { end += 1 }
            // Almost always one day of one install has the number.
            var rest = places[start..<end].map(\.event)
            while let first = rest.first.map({ events[Int($0)] }) {
                var sightings: [Sighting] = []
                sightings.reserveCapacity(rest.count)
                var others: [Int32] = []
                for place in rest {
                    let event = events[Int(place)]
                    guard
                        event.install == first.install, event.app == first.app,
                        event.daySince1970 == first.daySince1970
                    else {
                        others.append(place)
                        continue
                    }
                    sightings.append(try Sighting(event, words))
                }
                let name = InstallDay.Name(app: first.app, shard: first.shard, install: first.install, day: first.day)
                news.append(InstallNews(key: key, name: name, sightings: sightings))
                rest = others
            }
            start = end
        }
        return news
    }
}
