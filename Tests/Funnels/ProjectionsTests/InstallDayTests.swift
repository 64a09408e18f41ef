import FunnelOracle
import HistoryFold
import Projections
import Telemetry
import Testing
import Values

@Suite("Days of installs")
struct InstallDayTests {
    @Test("have the same state in whatever order and groups their events come, and after it was stored")
    func anyWay() {
        for seed in 70_000..<70_600 as Range<UInt64> {
            var random = SeededNumbers(seed: seed)
            for (name, sightings) in WrittenLog(of: RandomHistory(seed: seed, deliveries: 30)).sightings {
                let state = InstallDayState(of: sightings)
                #expect(InstallDayState(of: sightings.shuffled(using: &random)) == state, "seed \(seed)")
                var merged: InstallDayState?
                for group in random.parted(sightings) where !group.isEmpty {
                    let part = InstallDayState(of: group)
                    merged = stored(merged, merging: part) ?? part
                }
                #expect(merged == state, "seed \(seed), \(name.day)")
            }
        }
    }

    /// The first state, stored and read again, with the second merged in.
    private func stored(_ state: InstallDayState?, merging other: InstallDayState) -> InstallDayState? {
        guard let state else { return nil }
        var read = InstallDayState(
            encoded: state.encoded(), firstAt: state.sightings[0].moment.occurredAt, firstDeviceAt: state.firstDeviceAt,
            lastDeviceAt: state.lastDeviceAt)
        #expect(read == state)
        read?.merge(other)
        return read
    }

    @Test("of an install that never rests stay small, and know what came last before notifications were turned off")
    func crowds() throws {
        let start = Timestamp(microseconds: 1_773_075_600_000_000)
        func moment(_ second: Int64) -> Moment {
            Moment(occurredAt: start + second * 1_000_000, id: UUID(high: 1, low: UInt64(second)), deviceAt: start)
        }
        var sightings = (0..<86_400).map { second in
            var sighting = Sighting(at: moment(Int64(second) * 1_000_003 % 86_400))
            sighting.receipt = Sighting.Receipt(category: Int32(sighting.moment.id.low), campaign: 1)
            return sighting
        }
        var off = Sighting(at: moment(43_300))
        off.change = .off
        sightings.append(off)
        let state = InstallDayState(of: sightings)
        #expect(state.sightings.count < 96 * 12)
        #expect(state.encoded().count < 60_000)
        let name = InstallDay.Name(
            app: 1, shard: 1, install: UUID(high: 1, low: 1), day: CivilDate(daysSince1970: 20_000))
        var day = InstallDay(name, state: state)
        day.findMuted(among: [state])
        // The quarter of an hour before it ended at 43,199: of its own, only the last eight receipts are known.
        #expect(day.muted == .after(Sighting.Receipt(category: 43_199, campaign: 1)))
    }

    @Test("are damaged bytes no state")
    func damaged() {
        let state = InstallDayState(of: WrittenLog(of: RandomHistory(seed: 3)).sightings.values.first ?? [])
        var random = SeededNumbers(seed: 5)
        let bytes = state.encoded()
        for _ in 0..<20_000 {
            var damaged = bytes
            damaged[random.number(0...(damaged.count - 1))] = UInt8(random.number(0...255))
            if random.number(0...3) == 0 { damaged.removeLast(random.number(1...damaged.count)) }
            let read = InstallDayState(
                encoded: damaged, firstAt: state.sightings[0].moment.occurredAt, firstDeviceAt: state.firstDeviceAt,
                lastDeviceAt: state.lastDeviceAt)
            // Whatever is read can be encoded again.
            if let read { #expect(!read.encoded().isEmpty) }
        }
    }
}
