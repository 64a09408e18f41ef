import FunnelOracle
import HistoryFold
import Projections
import Telemetry
import Testing
import Values

@Suite("A state as the bytes of its row")
struct StorageTests {
    @Test("is read as it was written, and merges as it would have")
    func roundTrip() {
        let broken = counterexamples(among: 20_000..<21_000) { seed in
            WrittenLog(of: RandomHistory(seed: seed)).observations.values.allSatisfy { isReadAsWritten($0) }
        }
        #expect(broken == [])
        let wildlyBroken = counterexamples(among: 0..<3_000) { seed in
            var wild = WildObservations(seed: seed)
            let later = DeliveryState(of: wild.some())
            let observations = wild.some()
            let state = DeliveryState(of: observations)
            let read = DeliveryState(encoded: state.encoded(), span: state.span)
            return isReadAsWritten(observations) && read?.merged(with: later) == state.merged(with: later)
        }
        #expect(wildlyBroken == [])
    }

    @Test("is read as it was written when story and taps are over 1,000, and numbers as large as they may be")
    func largeRoundTrip() {
        let broken = counterexamples(among: 0..<6) { seed in
            var wild = WildObservations(seed: seed)
            return isReadAsWritten(wild.many(taps: true) + wild.many(taps: false))
        }
        #expect(broken == [])
        var extreme = Observation(
            at: Moment(
                occurredAt: Timestamp.plausible.lowerBound, seq: 1 << 53, id: UUID(high: .max, low: .max),
                deviceAt: Timestamp.plausible.upperBound + -1), .actionTapped)
        extreme.action = .max
        extreme.attributes.category = .max
        extreme.attributes.origin = .max
        var last = extreme
        last.moment.occurredAt = Timestamp.plausible.upperBound + -1
        last.moment.deviceAt = Timestamp.plausible.lowerBound
        #expect(isReadAsWritten([extreme, last]))
    }

    @Test("cut short, is refused or read as a state that can be used")
    func truncated() {
        for seed in 0..<400 as Range<UInt64> {
            var wild = WildObservations(seed: seed)
            let state = DeliveryState(of: wild.some())
            let bytes = state.encoded()
            for length in bytes.indices {
                // Only taps that were counted stand behind the observations, and there are none here.
                #expect(DeliveryState(encoded: Array(bytes[..<length]), span: state.span) == nil, "seed \(seed)")
            }
        }
        var wild = WildObservations(seed: 1)
        let state = DeliveryState(of: wild.many(taps: true))
        let bytes = state.encoded()
        for length in (bytes.count - 12)..<bytes.count {
            use(DeliveryState(encoded: Array(bytes[..<length]), span: state.span), with: state)
        }
    }

    @Test("damaged, is refused or read as a state that can be used")
    func damaged() {
        var used = 0
        for seed in 0..<4_000 as Range<UInt64> {
            var wild = WildObservations(seed: seed)
            let state = DeliveryState(of: wild.some())
            var bytes = state.encoded()
            for _ in 0..<wild.random.number(1...4) {
                let place = wild.random.number(0...(bytes.count - 1))
                switch wild.random.number(0...3) {
                case 0: bytes[place] ^= 1 << UInt8(wild.random.number(0...7))
                case 1: bytes[place] = wild.random.any([0, 0x7F, 0x80, 0xFF])
                case 2: bytes.insert(UInt8(wild.random.number(0...255)), at: place)
                default: bytes.append(UInt8(wild.random.number(0...255)))
                }
            }
            if use(DeliveryState(encoded: bytes, span: state.span), with: state) { used += 1 }
        }
        // Damage that falls on an id or a word cannot be seen; else this would test refusals alone.
        #expect(used > 400)
    }

    @Test("with counts of taps as large as bytes can say, is refused or read as a state that can be used")
    func damagedTapCounts() {
        for seed in 0..<2_000 as Range<UInt64> {
            var wild = WildObservations(seed: seed)
            let state = DeliveryState(of: wild.some())
            var bytes = state.encoded()
            for _ in 0..<wild.random.number(1...9) {
                let large = [UInt8](repeating: 0xFF, count: wild.random.number(0...9))
                bytes += large + [UInt8(wild.random.number(0...0x7F))]
            }
            use(DeliveryState(encoded: bytes, span: state.span), with: state)
        }
    }

    @Test("of random bytes and another delivery's times, is refused or read as a state that can be used")
    func random() {
        for seed in 0..<6_000 as Range<UInt64> {
            var wild = WildObservations(seed: seed)
            let state = DeliveryState(of: wild.some())
            var times: [Timestamp] = (0..<4).map { _ in
                let extremes = [.min, .max, 0, -1, Int64(truncatingIfNeeded: wild.random.next())]
                return Timestamp(microseconds: wild.random.any(extremes))
            }
            if wild.random.happens(onceIn: 2) { times.sort() }
            let span = DeliveryState.Span(
                firstOccurredAt: times[0], lastOccurredAt: times[3], firstDeviceAt: times[1], lastDeviceAt: times[2])
            let noise = (0..<wild.random.number(0...60)).map { _ in UInt8(truncatingIfNeeded: wild.random.next()) }
            use(DeliveryState(encoded: noise, span: span), with: state)
            let format = UInt8(wild.random.number(2...3))
            use(
                DeliveryState(encoded: [format, UInt8(wild.random.number(0...3))] + noise, span: state.span),
                with: state)
            use(DeliveryState(encoded: state.encoded(), span: span), with: state)
        }
    }

    @Test("without an observation, or in another format, is refused")
    func refused() {
        var wild = WildObservations(seed: 1)
        let state = DeliveryState(of: wild.some())
        let bytes = state.encoded()
        #expect(DeliveryState(encoded: bytes, span: state.span) == state)
        #expect(DeliveryState(encoded: [], span: state.span) == nil)
        #expect(DeliveryState(encoded: [3, 0], span: state.span) == nil)
        #expect(DeliveryState(encoded: [0] + bytes.dropFirst(), span: state.span) == nil)
        #expect(DeliveryState(encoded: [bytes[0] + 1] + bytes.dropFirst(), span: state.span) == nil)
    }

    @Test("with an event outside its row's times, or out of order, is refused")
    func misplaced() {
        let scene = Scene { scene in
            scene.add(.receipt, 1, deviceAt: 900)
            scene.add(.opened(launch: nil), 5, deviceAt: -900)
        }
        let state = DeliveryState(of: scene.observations)
        #expect(DeliveryState(encoded: state.encoded(), span: state.span) == state)
        for shorten in [
            { (span: inout DeliveryState.Span) in span.lastOccurredAt = span.lastOccurredAt + -1 },
            { $0.firstDeviceAt = $0.firstDeviceAt + 1 }, { $0.lastDeviceAt = $0.lastDeviceAt + -1 },
        ] {
            var span = state.span
            shorten(&span)
            #expect(DeliveryState(encoded: state.encoded(), span: span) == nil)
        }
        let one = DeliveryState(of: [scene.observations[0]])
        let bytes = one.encoded()
        #expect(DeliveryState(encoded: [bytes[0], 2] + bytes.dropFirst(2) + bytes.dropFirst(2), span: one.span) == nil)
    }

    private func isReadAsWritten(_ observations: [Observation]) -> Bool {
        let state = DeliveryState(of: observations)
        let bytes = state.encoded()
        guard let read = DeliveryState(encoded: bytes, span: state.span) else { return false }
        return read == state && read.encoded() == bytes
    }

    /// Does with a state all that is done with one: what can trap, would. False where there is none.
    @discardableResult
    private func use(_ state: DeliveryState?, with other: DeliveryState) -> Bool {
        guard let state else { return false }
        let both = state.merged(with: other).merged(with: state)
        let name = Delivery.Name(app: 1, shard: 0, install: UUID(high: 0, low: 0), notificationKey: "n")
        let deliveries = [state, both].map { Delivery(name, day: CivilDate(daysSince1970: 0), state: $0) }
        var step = FunnelStep()
        step.replace(nil, with: deliveries[0])
        step.replace(deliveries[0], with: deliveries[1])
        var sums = FunnelSums(of: deliveries)
        sums.add(step)
        return !state.encoded().isEmpty && Meaning(of: both) == Meaning(of: both)
    }
}
