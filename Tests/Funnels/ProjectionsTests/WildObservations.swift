import FunnelOracle
import HistoryFold
import Projections
import Telemetry
import Values

/// Observations of one delivery drawn from few values, so that all that can coincide does: times, `seq`, ids, words.
///
/// Each says what an event of its type can say. No two differ at one moment: the log holds no two such events.
struct WildObservations {
    var random: SeededNumbers
    private var drawn: [Moment: Observation] = [:]

    init(seed: UInt64) { random = SeededNumbers(seed: seed) }

    /// From one to `most`, some of them twice or drawn before.
    mutating func some(_ most: Int = 14) -> [Observation] {
        let count = random.number(1...most)
        return (0..<count).map { _ in one() }
    }

    /// A story, or a row of taps, that goes on for longer than its events are kept one by one, and some others. They
    /// say so little that some word is first said by one of those beyond.
    mutating func many(taps: Bool) -> [Observation] {
        let count = random.number(DeliveryState.mostTaps - 3...DeliveryState.mostTaps + 400)
        let types: [EventType] = taps ? [.actionTapped] : [.storyPageShown, .storyActionTapped]
        let long = (0..<count).map { one(types, at: Int64($0), seq: 0...2, speaksOnceIn: 400) }
        return long
            + (0..<random.number(0...5)).map { _ in one(at: Int64(random.number(0...count)), speaksOnceIn: 400) }
    }

    private mutating func one() -> Observation { one(at: random.any([0, 1, 2, 3, 900, 60_000_000, 60_000_003])) }

    private mutating func one(
        _ types: [EventType] = EventType.allCases, at offset: Int64, seq: ClosedRange<Int> = 0...1,
        speaksOnceIn times: Int = 2
    ) -> Observation {
        let time = Timestamp(microseconds: 1_700_000_000_000_000 + offset)
        let moment = Moment(
            occurredAt: time, seq: Int64(random.number(seq)), id: UUID(high: random.any([1, .max]), low: 1),
            deviceAt: time + random.any([0, 0, 0, -7_000_000, 400_000_000]))
        if let known = drawn[moment] { return known }
        var observation = observation(at: moment, random.any(types))
        if random.happens(onceIn: times) { say(&observation.attributes) }
        drawn[moment] = observation
        return observation
    }

    private mutating func observation(at moment: Moment, _ type: EventType) -> Observation {
        var observation = Observation(at: moment, type)
        observation.alert = random.happens(onceIn: 6)
        if random.happens(onceIn: 4) {
            observation.sentAt = moment.occurredAt + random.any([0, -3_000_000, 1, 86_400_000_000])
        }
        switch type {
        case .notificationReceived: say(&observation)
        case .actionTapped:
            observation.action = Int32(random.number(1...3))
            observation.isForegroundTap = random.happens(onceIn: 2)
        case .storyStarted: observation.page = random.happens(onceIn: 40) ? 1_000 : random.any([1, 2, 5])
        case .storyPageShown, .storyActionTapped:
            observation.page = random.happens(onceIn: 40) ? 999 : random.any([0, 1, 2, 7])
            guard type == .storyPageShown else { break }
            observation.cause = random.any([0, 0, 0, 1, 2, 3, 4, 5])
            observation.declared = random.any([nil, 0, 1, 400, 60_000, Int32(Observation.longestDeclared)])
        default: break
        }
        return observation
    }

    private mutating func say(_ observation: inout Observation) {
        observation.via = random.any([0, 1, Via.foreground.rawValue, Via.background.rawValue, Via.background.rawValue])
        observation.presentation = random.any([.unsaid, .toSomebody, .toNobody])
        observation.fetchResult = Int16(random.number(0...3))
        observation.items = random.any([nil, 0, 1, 4, .max])
        guard random.happens(onceIn: 2) else { return }
        observation.media.kind = Int16(random.number(0...4))
        observation.media.network = Int16(random.number(0...3))
        observation.media.outcome = Int16(random.number(0...6))
        guard observation.media.outcome != 0 else { return }
        observation.media.reason = Int16(random.number(0...6))
        observation.media.format = random.any([0, 0, 1, 300])
        observation.media.bytes = random.any([0, 1, 200_000, .max])
        observation.media.milliseconds = random.any([nil, 0, 420, 600_000])
    }

    private mutating func say(_ attributes: inout Attributes) {
        func word() -> Int32 { random.any([0, 0, 1, 2, 300]) }
        attributes.category = word()
        attributes.campaign = word()
        attributes.variant = word()
        attributes.thread = word()
        attributes.platform = word()
        attributes.appVersion = word()
        attributes.osVersion = word()
        attributes.deviceModel = word()
        attributes.locale = word()
        attributes.interruptionLevel = word()
        attributes.topic = word()
        attributes.analyticsLabel = word()
        attributes.origin = Int16(random.number(0...2))
        attributes.authorization = Int16(random.number(0...5))
        attributes.reach = Int16(random.number(0...3))
        attributes.launch = Int16(random.number(0...3))
    }
}
