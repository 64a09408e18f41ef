internal import Telemetry
package import Values

/// Encodes a state as the bytes of its row, in the manner of a delivery's state: each number takes only the bytes it
/// needs, times are stored as distances, and a sighting stores only what it says.
extension InstallDayState {
    private static let format: UInt8 = 1

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + 40 * sightings.count)
        bytes.append(Self.format)
        bytes.append(varint: UInt64(sightings.count))
        var last = sightings[0].moment.occurredAt
        for sighting in sightings {
            bytes.append(sighting, after: last)
            last = sighting.moment.occurredAt
        }
        return bytes
    }

    /// Returns nil for bytes that are not a state of this format that begins at `firstAt`. A state that it returns can be
    /// counted, merged and encoded: damaged bytes may give a wrong state, but never one that stops the process.
    package init?(encoded bytes: [UInt8], firstAt: Timestamp, firstDeviceAt: Timestamp, lastDeviceAt: Timestamp) {
        var reader = StateReader(bytes)
        guard firstAt.isBelievable, firstDeviceAt.isBelievable, lastDeviceAt.isBelievable,
            reader.byte() == Self.format, let count = reader.varint(), count > 0, count <= bytes.count
        else { return nil }
        var sightings: [Sighting] = []
        sightings.reserveCapacity(Int(count))
        for _ in 0..<count {
            let last = sightings.last?.moment
            guard let sighting = reader.sighting(after: last?.occurredAt ?? firstAt),
                sighting.moment.occurredAt.isBelievable, sighting.moment.deviceAt.isBelievable,
                last.map({ $0 < sighting.moment }) ?? (sighting.moment.occurredAt == firstAt)
            else { return nil }
            sightings.append(sighting)
        }
        guard reader.isAtEnd else { return nil }
        self.init(stored: sightings, firstDeviceAt: firstDeviceAt, lastDeviceAt: lastDeviceAt)
    }
}

/// One bit for each thing that a sighting may say; the change takes the two highest.
private enum Said {
    static let device: UInt64 = 1 << 0
    static let seq: UInt64 = 1 << 1
    static let receipt: UInt64 = 1 << 2
    static let skew: UInt64 = 1 << 3
    static let change = 4
    static let anything: UInt64 = 1 << 6 - 1
}

extension [UInt8] {
    fileprivate mutating func append(_ sighting: Sighting, after last: Timestamp) {
        let moment = sighting.moment
        let skew = moment.deviceAt - moment.occurredAt
        var said = UInt64(sighting.change?.rawValue ?? 0) << UInt64(Said.change)
        if !sighting.device.isEmpty { said |= Said.device }
        if moment.seq != 0 { said |= Said.seq }
        if sighting.receipt != nil { said |= Said.receipt }
        if skew != 0 { said |= Said.skew }
        append(UInt8(said))
        append(varint: UInt64(moment.occurredAt - last))
        append(eightBytes: moment.id.high)
        append(eightBytes: moment.id.low)
        if !sighting.device.isEmpty {
            var present: UInt64 = 0
            for place in DeviceWords.places where sighting.device[place: place] != 0 { present |= 1 << UInt64(place) }
            append(varint: present)
            for place in DeviceWords.places where sighting.device[place: place] != 0 {
                append(varint: UInt64(sighting.device[place: place]))
            }
        }
        if moment.seq != 0 { append(varint: UInt64(moment.seq)) }
        if let receipt = sighting.receipt {
            append(varint: UInt64(receipt.category))
            append(varint: UInt64(receipt.campaign))
        }
        if skew != 0 { append(zigzag: skew) }
    }
}

extension DeviceWords {
    /// Funnels have a column for each code.
    fileprivate var hasKnownCodes: Bool {
        (self[.authorization] == 0 || Int16(exactly: self[.authorization]).flatMap(Authorization.init) != nil)
            && (self[.reach] == 0 || Int16(exactly: self[.reach]).flatMap(Reach.init) != nil)
    }
}

extension StateReader {
    fileprivate mutating func sighting(after last: Timestamp) -> Sighting? {
        guard let said = byte().map(UInt64.init), said <= Said.anything, let distance = int64(),
            let high = eightBytes(), let low = eightBytes()
        else { return nil }
        let (occurredAt, overflow) = last.microseconds.addingReportingOverflow(distance)
        guard !overflow else { return nil }
        var device = DeviceWords()
        if said & Said.device != 0 {
            guard let present = varint(), present >> UInt64(DeviceWords.places.count) == 0 else { return nil }
            for place in DeviceWords.places where present >> UInt64(place) & 1 == 1 {
                guard let id = int32() else { return nil }
                device[place: place] = id
            }
            guard device.hasKnownCodes else { return nil }
        }
        var seq: Int64 = 0
        if said & Said.seq != 0 {
            guard let given = int64() else { return nil }
            seq = given
        }
        var receipt: Sighting.Receipt?
        if said & Said.receipt != 0 {
            guard let category = int32(), let campaign = int32() else { return nil }
            receipt = Sighting.Receipt(category: category, campaign: campaign)
        }
        var deviceAt = occurredAt
        if said & Said.skew != 0 {
            guard let skew = zigzag() else { return nil }
            let (sum, overflow) = occurredAt.addingReportingOverflow(skew)
            guard !overflow else { return nil }
            deviceAt = sum
        }
        var sighting = Sighting(
            at: Moment(
                occurredAt: Timestamp(microseconds: occurredAt), seq: seq, id: UUID(high: high, low: low),
                deviceAt: Timestamp(microseconds: deviceAt)))
        sighting.device = device
        sighting.receipt = receipt
        sighting.change = Sighting.Change(rawValue: UInt8(said >> UInt64(Said.change)))
        return sighting
    }
}
