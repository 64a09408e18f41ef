package import Values

/// What is kept of an install's events of one day so that later ones can be merged in, whenever and in whatever order
/// they arrive.
///
/// It is a set of sightings. `trim` drops what can never matter again. It does so for each quarter of an hour
/// separately, so that a day can be divided when the app's time zone changes. Mostly a quarter of an hour leaves two
/// sightings: the first and the last one, which says all about the device. The log never holds an event twice, so
/// neither does a state.
package struct InstallDayState: Hashable, Sendable {
    /// In event order; at least one.
    package private(set) var sightings: [Sighting]
    /// All device times lie between these.
    package private(set) var firstDeviceAt: Timestamp
    package private(set) var lastDeviceAt: Timestamp

    /// Of the receipts in a quarter of an hour, so many count, the last in event order.
    package static let mostReceipts = 8

    /// Takes at least one sighting, in any order.
    package init(of sightings: [Sighting]) {
        precondition(!sightings.isEmpty, "an install has a day because of an event")
        self.init(
            stored: sightings, firstDeviceAt: sightings[0].moment.deviceAt, lastDeviceAt: sightings[0].moment.deviceAt)
        for sighting in sightings.dropFirst() {
            firstDeviceAt = min(firstDeviceAt, sighting.moment.deviceAt)
            lastDeviceAt = max(lastDeviceAt, sighting.moment.deviceAt)
        }
        if sightings.count > 1 { trim() }
    }

    /// Takes some sightings of another state. Its device times hold for the part, too: which events they came from is
    /// unknown.
    init(part sightings: [Sighting], of whole: InstallDayState) {
        self.init(stored: sightings, firstDeviceAt: whole.firstDeviceAt, lastDeviceAt: whole.lastDeviceAt)
    }

    /// Takes stored sightings, which are sorted and trimmed already.
    init(stored sightings: [Sighting], firstDeviceAt: Timestamp, lastDeviceAt: Timestamp) {
        self.sightings = sightings
        self.firstDeviceAt = firstDeviceAt
        self.lastDeviceAt = lastDeviceAt
    }

    /// Adds all events of the other state.
    package mutating func merge(_ other: InstallDayState) {
        firstDeviceAt = min(firstDeviceAt, other.firstDeviceAt)
        lastDeviceAt = max(lastDeviceAt, other.lastDeviceAt)
        sightings += other.sightings
        trim()
    }

    private mutating func trim() {
        sightings.sort { $0.moment < $1.moment }
        var kept: [Sighting] = []
        kept.reserveCapacity(sightings.count)
        var end = sightings.endIndex
        while end > 0 {
            let quarter = sightings[end - 1].quarter
            var start = end - 1
            while start > 0, sightings[start - 1].quarter == quarter { start -= 1 }
            Self.keep(sightings[start..<end], in: &kept)
            end = start
        }
        kept.reverse()
        sightings = kept
    }

    /// Appends what can still matter of a quarter of an hour, the last first: its first and last sighting, the last
    /// that says something about the device, the last receipts, the last change, and the first one off and on.
    private static func keep(_ quarter: ArraySlice<Sighting>, in kept: inout [Sighting]) {
        var (off, on, last): (Int?, Int?, Int?)
        for index in quarter.indices {
            guard let change = quarter[index].change else { continue }
            last = index
            if change == .off { off = off ?? index }
            if change == .on { on = on ?? index }
        }
        var known = DeviceWords()
        var receipts = 0
        for index in quarter.indices.reversed() {
            var sighting = quarter[index]
            if sighting.change != nil {
                // What a change changed to matters as long as the change does.
                let authorization = sighting.device.authorization
                sighting.device.forget(known)
                if index == off || index == on || index == last {
                    sighting.device[.authorization] = Int32(authorization)
                } else {
                    sighting.change = nil
                }
            } else {
                sighting.device.forget(known)
            }
            known.complete(from: sighting.device)
            if sighting.receipt != nil {
                receipts += 1
                if receipts > mostReceipts { sighting.receipt = nil }
            }
            let isEnd = index == quarter.startIndex || index == quarter.endIndex - 1
            guard isEnd || !sighting.device.isEmpty || sighting.change != nil || sighting.receipt != nil else {
                continue
            }
            kept.append(sighting)
        }
    }
}
