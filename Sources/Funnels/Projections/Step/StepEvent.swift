internal import Postgres
internal import Telemetry
internal import Values

/// What the fold reads of an event, unpacked from its row of `log.event`. Records of one size lie in one array, so that
/// a step makes no object for each of its events.
struct StepEvent {
    var occurredAt: Timestamp
    var deviceAt: Timestamp
    var sentAt: Timestamp?
    var id: UUID
    var install: UUID
    var seq: Int64
    var amount1: Int64?
    var amount2: Int32?
    /// `summary_argument_count`.
    var items: Int64?
    var word: Int32
    var app: Int32
    var codes: Int32
    var own: Int32
    /// Where its device and its context are among the words of the step.
    var device: EventWords.Place
    var context: EventWords.Place
    /// Its day in the app's time zone; `LocalDays` finds it.
    var daySince1970: Int32 = 0
    /// Where its notification key is among the bytes of all keys, and how long; -1 if it has none.
    var keyStart: Int32
    var keyCount: Int32
    let type: EventType
    let shard: Int16

    /// Whether it belongs to a delivery. A goal may name its notification, but is no event of the fold.
    var isOfDelivery: Bool { keyCount >= 0 && type.isOfDelivery }

    var day: CivilDate { CivilDate(daysSince1970: Int(daySince1970)) }

    var moment: Moment { Moment(occurredAt: occurredAt, seq: seq, id: id, deviceAt: deviceAt) }

    /// The code of a member that this type stores among the bits of `own`.
    fileprivate func own(_ member: Member) -> Int16 { EventBits.of(member).value(in: own) }
}

/// The bits of `log.event.codes`.
extension StepEvent {
    static func shard(in codes: Int32) -> Int16 { Int16(truncatingIfNeeded: codes >> 4 & 63) }

    static func type(in codes: Int32) -> Int16 { EventBits.of(.type).value(in: codes) }
}

extension Observation {
    /// What an event says about its delivery.
    init(_ event: StepEvent, _ words: EventWords) throws(PostgresError) {
        self.init(at: event.moment, event.type)
        attributes = words.context(event.context)
        attributes.complete(from: words.device(event.device).attributes)
        attributes.origin = EventBits.of(.origin).value(in: event.codes)
        alert = EventBits.of(.alert).value(in: event.codes) == 2
        sentAt = event.sentAt
        switch type {
        case .notificationReceived:
            via = event.own(.via)
            presentation = Presentation(bits: event.own(.presentation))
            fetchResult = event.own(.fetchResult)
            media.kind = event.own(.mediaKind)
            media.network = event.own(.mediaNetwork)
            media.outcome = event.own(.mediaOutcome)
            if media.outcome != 0 {
                media.reason = event.own(.mediaReason)
                media.format = words.counted(event.word)
                media.bytes = Int32(clamping: event.amount1 ?? 0)
                media.milliseconds = event.amount2
            }
            // Clamped, so that a sum of absurd counts cannot overflow.
            items = event.items.map { Int32(clamping: $0) }
        case .notificationOpened: attributes.launch = event.own(.launch)
        case .actionTapped:
            attributes.launch = event.own(.launch)
            action = words.counted(event.word)
            isForegroundTap = event.own(.activation) == Activation.foreground.rawValue
        case .storyPageShown:
            page = event.own(.pageIndex) - 1
            cause = event.own(.cause)
            declared = event.amount1.map { Int32(min($0, Self.longestDeclared)) }
        case .storyActionTapped: page = event.own(.pageIndex) - 1
        case .storyStarted: page = event.own(.pageCount)
        default: break
        }
        guard isPlausible else { throw .decoding("event \(moment.id) has numbers that no event can have") }
    }

    /// Whether ingestion would let it through. Somebody may have written into the log by hand.
    private var isPlausible: Bool {
        // The result is negative if any of them is.
        let ids =
            attributes.category | attributes.campaign | attributes.variant | attributes.thread | attributes.platform
            | attributes.appVersion | attributes.osVersion | attributes.deviceModel | attributes.locale
            | attributes.interruptionLevel | attributes.topic | attributes.analyticsLabel | action | (items ?? 0)
            | (declared ?? 0) | media.format | media.bytes | (media.milliseconds ?? 0)
        let codes =
            attributes.origin | attributes.authorization | attributes.reach | attributes.launch | via | fetchResult
            | media.kind
            | media.network | media.outcome | media.reason | cause
        return moment.seq >= 0 && ids >= 0 && codes >= 0
            && (type == .storyStarted ? 1...1_000 : 0...999).contains(page ?? 1)
    }
}

extension Observation.Presentation {
    /// Takes the log's bits: the lowest says whether there is a list at all, then one for each option.
    fileprivate init(bits: Int16) {
        let visible: [PresentationOption] = [.banner, .list, .alert]
        let mask = visible.reduce(Int16(0)) { $0 | 1 << $1.rawValue }
        self = bits & 1 == 0 ? .unsaid : bits & mask == 0 ? .toNobody : .toSomebody
    }
}

extension Sighting {
    /// What an event says about its install.
    init(_ event: StepEvent, _ words: EventWords) throws(PostgresError) {
        self.init(at: event.moment)
        switch event.type {
        case .permissionChanged:
            var said = words.device(event.device)
            // What the event says itself overrides its source.
            let new = event.own(.newAuthorization)
            if new != 0 { said.allow(new) }
            device = said.words
            change = Change(to: said.attributes.authorization, from: event.own(.previous))
        case .notificationReceived:
            let observation = try Observation(event, words)
            device = words.device(event.device).words
            if observation.breaksSilence {
                receipt = Receipt(category: observation.attributes.category, campaign: observation.attributes.campaign)
            }
        default:
            // What belongs to a delivery is read, and refused if no event can be like that, with its delivery.
            if !event.isOfDelivery { _ = try Observation(event, words) }
            device = words.device(event.device).words
        }
    }
}
