internal import Telemetry
internal import Values

/// Encodes a state as the bytes of its row. Most events write a row, so the format is compact: each number takes only
/// the bytes it needs, times are stored as distances, and an observation stores only what it says.
extension DeliveryState {
    private static let format: UInt8 = 4

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + 32 * observations.count)
        bytes.append(Self.format)
        bytes.append(varint: UInt64(observations.count))
        var last = span.firstOccurredAt
        for observation in observations {
            bytes.append(observation, after: last)
            last = observation.moment.occurredAt
        }
        // A fixed order, so that equal states have equal bytes.
        for (action, count) in surplusTaps.sorted(by: { $0.key < $1.key }) {
            bytes.append(varint: UInt64(action))
            bytes.append(varint: UInt64(count.taps))
            bytes.append(varint: UInt64(count.foreground))
        }
        return bytes
    }

    /// Returns nil for bytes that are not a state of this format and span. A state that it returns can be folded,
    /// merged and encoded: damaged bytes may give a wrong state, but never one that makes arithmetic overflow.
    package init?(encoded bytes: [UInt8], span: Span) {
        var reader = StateReader(bytes)
        guard span.isBelievable, reader.byte() == Self.format, let count = reader.varint(), count > 0,
            count <= bytes.count
        else { return nil }
        var observations: [Observation] = []
        observations.reserveCapacity(Int(count))
        for _ in 0..<count {
            let last = observations.last?.moment
            guard let observation = reader.observation(after: last?.occurredAt ?? span.firstOccurredAt),
                span.holds(observation.moment), last.map({ $0 < observation.moment }) ?? true
            else { return nil }
            observations.append(observation)
        }
        var surplusTaps: [Int32: TapCount] = [:]
        var lastAction: Int32 = 0
        while !reader.isAtEnd {
            guard let action = reader.int32(), action > lastAction, let count = reader.tapCount() else { return nil }
            surplusTaps[action] = count
            lastAction = action
        }
        self.init(stored: observations, span: span, surplusTaps: surplusTaps)
    }
}

extension Timestamp {
    /// Whether it lies in the years -71,000 to 75,000, far beyond those of events, so that no distance overflows.
    var isBelievable: Bool { microseconds.magnitude < 1 << 61 }
}

extension DeliveryState.Span {
    fileprivate var isBelievable: Bool {
        firstOccurredAt.isBelievable && lastOccurredAt.isBelievable && firstDeviceAt.isBelievable
            && lastDeviceAt.isBelievable
    }

    fileprivate func holds(_ moment: Moment) -> Bool {
        firstOccurredAt <= moment.occurredAt && moment.occurredAt <= lastOccurredAt
            && firstDeviceAt <= moment.deviceAt && moment.deviceAt <= lastDeviceAt
    }
}

/// One bit for each thing that an observation may say. The most common ones come first, so that the mask is short.
private enum Said {
    static let seq: UInt64 = 1 << 0
    static let via: UInt64 = 1 << 1
    static let page: UInt64 = 1 << 2
    static let action: UInt64 = 1 << 3
    static let foregroundTap: UInt64 = 1 << 4
    static let category: UInt64 = 1 << 5
    static let attributes: UInt64 = 1 << 6
    static let alert: UInt64 = 1 << 7
    static let presentation: UInt64 = 1 << 8
    static let media: UInt64 = 1 << 9
    static let fetchResult: UInt64 = 1 << 10
    static let items: UInt64 = 1 << 11
    static let skew: UInt64 = 1 << 12
    static let sent: UInt64 = 1 << 13

    // Bits that only a page shown uses. They reuse bits that it never sets otherwise, so that its mask is one byte.
    static let cause = via
    static let declared = foregroundTap

    static let anything: UInt64 = (sent << 1) - 1
}

extension Attributes {
    /// All words and codes but the category, the most common first: eleven words and four codes.
    fileprivate var others: SIMD16<Int32> {
        get {
            [
                platform, appVersion, osVersion, deviceModel, locale, campaign, thread, variant, interruptionLevel,
                topic, analyticsLabel, Int32(authorization), Int32(launch), Int32(origin), Int32(reach),
                0,
            ]
        }
        set {
            platform = newValue[0]
            appVersion = newValue[1]
            osVersion = newValue[2]
            deviceModel = newValue[3]
            locale = newValue[4]
            campaign = newValue[5]
            thread = newValue[6]
            variant = newValue[7]
            interruptionLevel = newValue[8]
            topic = newValue[9]
            analyticsLabel = newValue[10]
            authorization = Int16(newValue[11])
            launch = Int16(newValue[12])
            origin = Int16(newValue[13])
            reach = Int16(newValue[14])
        }
    }
}

extension [UInt8] {
    /// Seven bits a byte, the lowest first.
    mutating func append(varint number: UInt64) {
        var rest = number
        while rest > 0x7F {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    fileprivate mutating func append(_ observation: Observation, after last: Timestamp) {
        let moment = observation.moment
        let attributes = observation.attributes
        let skew = moment.deviceAt - moment.occurredAt
        var said: UInt64 = 0
        if moment.seq != 0 { said |= Said.seq }
        if observation.via != 0 { said |= Said.via }
        if observation.page != nil { said |= Said.page }
        if observation.action != 0 { said |= Said.action }
        if observation.isForegroundTap { said |= Said.foregroundTap }
        if observation.cause != 0 { said |= Said.cause }
        if observation.declared != nil { said |= Said.declared }
        if attributes.category != 0 { said |= Said.category }
        var others = attributes
        others.category = 0
        if !others.isEmpty { said |= Said.attributes }
        if observation.alert { said |= Said.alert }
        if observation.presentation != .unsaid { said |= Said.presentation }
        if observation.media.outcome != 0 { said |= Said.media }
        if observation.fetchResult != 0 { said |= Said.fetchResult }
        if observation.items != nil { said |= Said.items }
        if skew != 0 { said |= Said.skew }
        if observation.sentAt != nil { said |= Said.sent }

        append(UInt8(observation.type.rawValue))
        append(varint: said)
        append(varint: UInt64(moment.occurredAt - last))
        append(eightBytes: moment.id.high)
        append(eightBytes: moment.id.low)
        if said & Said.seq != 0 { append(varint: UInt64(moment.seq)) }
        // One of the two is 0.
        if said & Said.via != 0 { append(varint: UInt64(observation.via | observation.cause)) }
        if let page = observation.page { append(varint: UInt64(page)) }
        if let declared = observation.declared { append(varint: UInt64(declared)) }
        if said & Said.action != 0 { append(varint: UInt64(observation.action)) }
        if said & Said.category != 0 { append(varint: UInt64(attributes.category)) }
        if said & Said.attributes != 0 {
            let ids = attributes.others
            var present: UInt64 = 0
            for bit in 0..<15 where ids[bit] != 0 { present |= 1 << UInt64(bit) }
            append(varint: present)
            for bit in 0..<15 where ids[bit] != 0 { append(varint: UInt64(ids[bit])) }
        }
        if said & Said.presentation != 0 { append(observation.presentation.rawValue) }
        if said & Said.media != 0 {
            append(observation.media)
        }
        if said & Said.fetchResult != 0 { append(varint: UInt64(observation.fetchResult)) }
        if let items = observation.items { append(varint: UInt64(items)) }
        if said & Said.skew != 0 { append(zigzag: skew) }
        if let sent = observation.sentAt { append(zigzag: moment.occurredAt.microseconds &- sent.microseconds) }
    }

    /// Kind, network and outcome take three bits each. What few events say has a bit each behind them.
    private mutating func append(_ media: MediaFacts) {
        var said =
            UInt64(media.kind) | UInt64(media.network) << 3 | UInt64(media.outcome) << 6 | UInt64(media.reason) << 9
        if media.format != 0 { said |= 1 << 12 }
        if media.bytes != 0 { said |= 1 << 13 }
        if media.milliseconds != nil { said |= 1 << 14 }
        append(varint: said)
        if media.format != 0 { append(varint: UInt64(media.format)) }
        if media.bytes != 0 { append(varint: UInt64(media.bytes)) }
        if let milliseconds = media.milliseconds { append(varint: UInt64(milliseconds)) }
    }

    /// Zigzag encoding: small distances are short in either direction.
    mutating func append(zigzag distance: Int64) {
        append(varint: UInt64(bitPattern: distance << 1 ^ distance >> 63))
    }

    mutating func append(eightBytes word: UInt64) {
        var shift: UInt64 = 64
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }
}

/// Reads encoded bytes. Every read returns nil on malformed bytes.
struct StateReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func byte() -> UInt8? {
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    mutating func varint() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = byte(), shift < 64 {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    mutating func int64() -> Int64? { varint().flatMap { Int64(exactly: $0) } }

    mutating func int32() -> Int32? { varint().flatMap { Int32(exactly: $0) } }

    private mutating func int16() -> Int16? { varint().flatMap { Int16(exactly: $0) } }

    mutating func zigzag() -> Int64? {
        varint().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    mutating func eightBytes() -> UInt64? {
        guard place + 8 <= bytes.count else { return nil }
        var word: UInt64 = 0
        for _ in 0..<8 {
            word = word << 8 | UInt64(bytes[place])
            place += 1
        }
        return word
    }

    /// At least one tap, and few enough that sums of such counts cannot overflow.
    mutating func tapCount() -> DeliveryState.TapCount? {
        guard let taps = int64(), let foreground = int64(), 0 < taps, taps < 1 << 48, foreground <= taps else {
            return nil
        }
        return DeliveryState.TapCount(taps: taps, foreground: foreground)
    }

    mutating func observation(after last: Timestamp) -> Observation? {
        guard let code = byte(), let type = EventType(rawValue: Int16(code)), let said = varint(),
            said <= Said.anything, let distance = int64(), let high = eightBytes(), let low = eightBytes()
        else { return nil }
        let (occurredAt, overflow) = last.microseconds.addingReportingOverflow(distance)
        guard !overflow else { return nil }
        var seq: Int64 = 0
        if said & Said.seq != 0 {
            guard let given = int64() else { return nil }
            seq = given
        }
        let moment = Moment(
            occurredAt: Timestamp(microseconds: occurredAt), seq: seq, id: UUID(high: high, low: low),
            deviceAt: Timestamp(microseconds: occurredAt))
        var observation = Observation(at: moment, type)
        guard readOwn(of: &observation, said), readShared(of: &observation, said) else { return nil }
        return observation
    }

    private mutating func readOwn(of observation: inout Observation, _ said: UInt64) -> Bool {
        let isPage = observation.type == .storyPageShown
        if said & Said.via != 0 {
            guard let code = int16() else { return false }
            if isPage { observation.cause = code } else { observation.via = code }
        }
        if said & Said.page != 0 {
            guard let page = int16(), page <= 1_000 else { return false }
            observation.page = page
        }
        if isPage, said & Said.declared != 0 {
            guard let declared = int32() else { return false }
            observation.declared = declared
        }
        if said & Said.action != 0 {
            guard let action = int32() else { return false }
            observation.action = action
        }
        observation.isForegroundTap = !isPage && said & Said.foregroundTap != 0
        observation.alert = said & Said.alert != 0
        return true
    }

    private mutating func readShared(of observation: inout Observation, _ said: UInt64) -> Bool {
        if said & Said.category != 0 {
            guard let category = int32() else { return false }
            observation.attributes.category = category
        }
        if said & Said.attributes != 0 {
            guard let present = varint(), present >> 15 == 0 else { return false }
            var others = observation.attributes.others
            for bit in 0..<15 where present >> UInt64(bit) & 1 == 1 {
                guard let id = int32(), bit < 11 || id <= Int16.max else { return false }
                others[bit] = id
            }
            observation.attributes.others = others
        }
        if said & Said.presentation != 0 {
            guard let presentation = byte().flatMap(Observation.Presentation.init) else { return false }
            observation.presentation = presentation
        }
        if said & Said.media != 0 {
            guard let media = media() else { return false }
            observation.media = media
        }
        if said & Said.fetchResult != 0 {
            guard let result = int16() else { return false }
            observation.fetchResult = result
        }
        if said & Said.items != 0 {
            guard let items = int32() else { return false }
            observation.items = items
        }
        if said & Said.skew != 0 {
            guard let skew = zigzag() else { return false }
            let occurredAt = observation.moment.occurredAt.microseconds
            let (deviceAt, overflow) = occurredAt.addingReportingOverflow(skew)
            guard !overflow else { return false }
            observation.moment.deviceAt = Timestamp(microseconds: deviceAt)
        }
        if said & Said.sent != 0 {
            guard let distance = zigzag() else { return false }
            let (sentAt, overflow) = observation.moment.occurredAt.microseconds.subtractingReportingOverflow(distance)
            guard !overflow, Timestamp(microseconds: sentAt).isBelievable else { return false }
            observation.sentAt = Timestamp(microseconds: sentAt)
        }
        return true
    }

    private mutating func media() -> MediaFacts? {
        guard let said = varint(), said < 1 << 15 else { return nil }
        var media = MediaFacts()
        (media.kind, media.network) = (Int16(said & 7), Int16(said >> 3 & 7))
        (media.outcome, media.reason) = (Int16(said >> 6 & 7), Int16(said >> 9 & 7))
        if said >> 12 & 1 == 1 {
            guard let format = int32() else { return nil }
            media.format = format
        }
        if said >> 13 & 1 == 1 {
            guard let bytes = int32() else { return nil }
            media.bytes = bytes
        }
        if said >> 14 & 1 == 1 {
            guard let milliseconds = int32() else { return nil }
            media.milliseconds = milliseconds
        }
        return media.outcome == 0 ? nil : media
    }
}
