import HistoryFold
import Projections
import Values

/// What holds for all bytes that may stand in a row as the state of a delivery or of an install's day: a damaged disk, a
/// restored file or somebody with `UPDATE` may have written them.
package enum StateLaw {
    /// Each law that was broken, in words. The first bytes are the row's other columns: which kind of state it is, and its
    /// times, as far as they are odd.
    package static func broken(by bytes: [UInt8]) -> [String] {
        guard let kind = bytes.first else { return [] }
        var rest = bytes.dropFirst()
        let usual = Timestamp(microseconds: 1_700_000_000_000_000)
        var times = [usual, usual + 86_400_000_000, usual + -1_000_000_000, usual + 90_000_000_000]
        for place in times.indices where kind >> UInt8(place + 1) & 1 == 1 {
            let word = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            times[place] = Timestamp(microseconds: Int64(bitPattern: word))
            rest = rest.dropFirst(8)
        }
        let state = Array(rest)
        return kind & 1 == 0 ? faults(ofDelivery: state, times) : faults(ofInstallDay: state, times)
    }

    private static func faults(ofDelivery bytes: [UInt8], _ times: [Timestamp]) -> [String] {
        let span = DeliveryState.Span(
            firstOccurredAt: times[0], lastOccurredAt: times[1], firstDeviceAt: times[2], lastDeviceAt: times[3])
        guard let state = DeliveryState(encoded: bytes, span: span) else { return [] }
        var broken: [String] = []
        if DeliveryState(encoded: state.encoded(), span: span) != state {
            broken.append("a delivery is another when it is stored again")
        }
        let whole = state.merged(with: state)
        // Taps beyond the first thousand are counted, and so twice here, perhaps beyond what is believed.
        if whole.surplusTaps.isEmpty {
            if DeliveryState(encoded: whole.encoded(), span: whole.span) != whole {
                broken.append("a delivery that was merged is another when it is stored")
            }
            if whole.merged(with: state) != whole {
                broken.append("a delivery is another when what it has is merged in")
            }
        }
        // What can trap, would.
        let name = Delivery.Name(app: 1, shard: 0, install: UUID(high: 0, low: 0), notificationKey: "n")
        var step = FunnelStep()
        for one in [state, whole] {
            step.replace(nil, with: Delivery(name, day: CivilDate(daysSince1970: 0), state: one))
        }
        return broken
    }

    private static func faults(ofInstallDay bytes: [UInt8], _ times: [Timestamp]) -> [String] {
        func read(_ bytes: [UInt8], _ state: InstallDayState? = nil) -> InstallDayState? {
            InstallDayState(
                encoded: bytes, firstAt: state?.sightings[0].moment.occurredAt ?? times[0],
                firstDeviceAt: state?.firstDeviceAt ?? times[2], lastDeviceAt: state?.lastDeviceAt ?? times[3])
        }
        guard let state = read(bytes) else { return [] }
        var broken: [String] = []
        if read(state.encoded(), state) != state { broken.append("a day is another when it is stored again") }
        // The log holds no event twice, so no day is ever merged with itself.
        let whole = InstallDayState(of: state.sightings)
        if read(whole.encoded(), whole) != whole {
            broken.append("a day that was trimmed is another when it is stored")
        }
        let half = state.sightings.count / 2
        if half > 0 {
            var merged = InstallDayState(of: Array(state.sightings[half...]))
            merged.merge(InstallDayState(of: Array(state.sightings[..<half])))
            if merged != whole { broken.append("a day is another when it comes in two parts") }
        }
        var day = InstallDay(
            .init(app: 1, shard: 0, install: UUID(high: 0, low: 0), day: CivilDate(daysSince1970: 0)), state: state)
        day.findMuted(among: [state, whole])
        var step = FunnelStep()
        step.add(day)
        return broken
    }
}
