import JSON
import Telemetry

/// The texts and sources of an envelope being decoded. Moves values from JSON into records.
struct EnvelopeValues {
    private(set) var texts: [UInt8] = []
    private(set) var sources: [SourceRecord] = []
    /// The rare members of the event that is being read.
    private var rare = JSONWriter()

    /// As it is written in the body, the number of a decimal member: a double would not be exact.
    private var literal: [UInt8] = []

    mutating func beginEvent() {
        if !rare.isEmpty { rare = JSONWriter() }
    }

    mutating func note(literal: [UInt8]) { self.literal = literal }

    mutating func add(_ bytes: [UInt8]) -> TextSlice {
        texts += bytes
        return TextSlice(start: texts.count - bytes.count, count: bytes.count)
    }

    /// Reads those members of an object that are in the set. A wrong value rejects the event.
    mutating func read(
        _ reader: ObjectReader<Member>, _ members: JSONKeys.Set, _ plans: MemberPlans, like last: EventRecord,
        into record: inout EventRecord
    ) throws(Rejection) {
        var left = reader.present & members
        while left != 0 {
            let ordinal = left.trailingZeroBitCount
            left &= left &- 1
            guard let value = reader.value(of: ordinal) else { continue }
            let plan = plans.plans[ordinal]
            let slot = Int(plan.slot)
            switch plan.kind {
            case .none: break
            case .text:
                let text = try text(value, ordinal, plan, of: reader)
                if plan.goal == .text {
                    record.texts[slot] = add(text, like: last.texts[slot])
                } else {
                    beginRare(ordinal)
                    rare.write(text)
                }
            case .code:
                let code = plans.code(of: try word(value, ordinal, of: reader), plan)
                if code == 0 { reader.keep(ordinal) }
                put(code, plan, into: &record)
            case .codes: put(try codes(value, ordinal, plan, plans, of: reader), plan, into: &record)
            case .boolean:
                guard let boolean = value.boolean else {
                    throw reader.invalid(ordinal, "must be true or false, not \(value.kind.words)")
                }
                put(boolean ? 2 : 1, plan, into: &record)
            case .integer: put(try integer(value, ordinal, plan, of: reader), ordinal, plan, into: &record)
            case .number:
                let number = try number(value, ordinal, of: reader)
                beginRare(ordinal)
                rare.write(raw: number.description)
            case .decimal: put(try decimal(value, ordinal, plan, of: reader), ordinal, plan, into: &record)
            case .letters: put(try letters(value, ordinal, plan, of: reader), plan, into: &record)
            case .time:
                guard value.kind == .string || value.kind == .number else {
                    throw reader.invalid(ordinal, "must be a string or a number, not \(value.kind.words)")
                }
                record.notificationSentAt = value.timestamp
                if record.notificationSentAt == nil { reader.keep(ordinal) }
            }
        }
    }

    /// Fills in what follows from the values read.
    mutating func finish(_ record: inout EventRecord) {
        let (fcm, delivery) = (
            record.texts[EventRecord.Slot.fcmMessageID], record.texts[EventRecord.Slot.deliveryID]
        )
        let request = record.texts[EventRecord.Slot.notificationID]
        if !fcm.isEmpty {
            record.keySource = .fcmMessageID
            finish(fcm, &record)
        } else if !delivery.isEmpty {
            (record.keySource, record.key) = (.deliveryID, delivery)
        } else if !request.isEmpty {
            (record.keySource, record.key) = (.notificationID, request)
        }
        if !rare.isEmpty { record.rare = add(rare.bytes) }
    }

    /// The key is a part of the message id; the rest of the id is kept beside it.
    private mutating func finish(_ fcm: TextSlice, _ record: inout EventRecord) {
        let (key, suffix) = FCMMessageID.parts(of: texts.span.extracting(fcm.range))
        let isAll = key.count == fcm.count
        let start = Int(fcm.start)
        record.key = TextSlice(start: start + key.lowerBound, count: key.count)
        if let suffix {
            record.suffix = TextSlice(start: start + suffix.lowerBound, count: suffix.count)
        } else if !isAll {
            let whole = texts[fcm.range]
            beginRare(Member.fcmMessageID.ordinal)
            rare.write(whole)
        }
    }

    /// Reads a source whose own members override the envelope's one by one.
    mutating func addSource(
        _ own: ObjectReader<Member>, over envelope: ObjectReader<Member>, _ settings: ObjectReader<Member>,
        _ plans: MemberPlans
    ) throws(Rejection) -> Int32 {
        var record = SourceRecord()
        let speaker = own.has(.installID) ? own : envelope
        guard let install = speaker[.installID]?.uuid else { throw speaker.invalid(.installID, "must be a UUID") }
        record.install = install
        var left = (own.present | envelope.present) & ~Member.installID.bit
        while left != 0 {
            let ordinal = left.trailingZeroBitCount
            left &= left &- 1
            let reader = own.present & 1 &<< JSONKeys.Set(truncatingIfNeeded: ordinal) != 0 ? own : envelope
            guard let value = reader.value(of: ordinal) else { continue }
            let plan = plans.plans[ordinal]
            switch plan.goal {
            case .text: record.texts[Int(plan.slot)] = add(try text(value, ordinal, plan, of: reader), like: .none)
            case .fid: record.fid = add(try text(value, ordinal, plan, of: reader), like: .none)
            case .code:
                let code = plans.code(of: try word(value, ordinal, of: reader), plan)
                if code == 0 { reader.keep(ordinal) }
                record.codes[Int(plan.slot)] = code
            case .none:
                guard value.isObject else {
                    throw reader.invalid(ordinal, "must be an object, not \(value.kind.words)")
                }
                reader.keepUnknownSettings(settings, plans)
                try read(settings, plans, into: &record)
            default: preconditionFailure("a source has no such member")
            }
        }
        sources.append(record)
        return Int32(sources.count - 1)
    }

    /// Reads the settings that the reader has begun.
    private func read(
        _ settings: ObjectReader<Member>, _ plans: MemberPlans, into record: inout SourceRecord
    ) throws(Rejection) {
        for member in Member.members(of: .settings) {
            guard let value = settings[member] else { continue }
            let plan = plans.plans[member.ordinal]
            record.codes[Int(plan.slot)] = plans.code(of: try word(value, member.ordinal, of: settings), plan)
        }
    }

    /// A text that the previous event has, too, is stored once.
    private mutating func add(_ text: JSONText, like last: TextSlice) -> TextSlice {
        if Int(last.count) == text.count, text.equals(texts, from: last.range.lowerBound, to: last.range.upperBound) {
            return last
        }
        text.append(to: &texts)
        return TextSlice(start: texts.count - text.count, count: text.count)
    }

    private func text(
        _ value: JSONValue, _ ordinal: Int, _ plan: MemberPlan, of reader: ObjectReader<Member>
    ) throws(Rejection) -> JSONText {
        let text = try word(value, ordinal, of: reader)
        guard text.count <= plan.limit else {
            throw reader.invalid(ordinal, "may have at most \(plan.limit) bytes, has \(text.count)")
        }
        return text
    }

    private func word(
        _ value: JSONValue, _ ordinal: Int, of reader: ObjectReader<Member>
    ) throws(Rejection) -> JSONText {
        guard let text = value.text else {
            throw reader.invalid(ordinal, "must be a string, not \(value.kind.words)")
        }
        return text
    }

    /// A first bit that says there is a list, and one for each word in it; 0 if a word is unknown.
    private func codes(
        _ array: JSONValue, _ ordinal: Int, _ plan: MemberPlan, _ plans: MemberPlans, of reader: ObjectReader<Member>
    ) throws(Rejection) -> Int32 {
        guard array.isArray else { throw reader.invalid(ordinal, "must be an array, not \(array.kind.words)") }
        var (bits, areKnown): (Int32, Bool) = (1, true)
        for element in array.elements where !element.isVoid {
            guard let text = element.text else {
                throw reader.invalid(ordinal, "must hold only strings, not \(element.kind.words)")
            }
            let code = plans.code(of: text, plan)
            if code == 0 { areKnown = false }
            bits |= 1 << code
        }
        if !areKnown { reader.keep(ordinal) }
        return areKnown ? bits : 0
    }

    private func integer(
        _ value: JSONValue, _ ordinal: Int, _ plan: MemberPlan, of reader: ObjectReader<Member>
    ) throws(Rejection) -> Int64 {
        guard let number = value.number else {
            throw reader.invalid(ordinal, "must be a number, not \(value.kind.words)")
        }
        guard let integer = number.integer, plan.least <= integer, integer <= plan.greatest else {
            throw reader.invalid(ordinal, "must be a whole number from \(plan.least) to \(plan.greatest)")
        }
        return integer
    }

    private func number(
        _ value: JSONValue, _ ordinal: Int, of reader: ObjectReader<Member>
    ) throws(Rejection) -> Double {
        guard let number = value.number else {
            throw reader.invalid(ordinal, "must be a number, not \(value.kind.words)")
        }
        guard case .number(let range) = Member.allCases[ordinal].declaration.kind else {
            preconditionFailure("it is no number")
        }
        guard range.contains(number.double) else {
            throw reader.invalid(ordinal, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        // Turns -0 into 0.
        return number.double + 0
    }

    /// An amount in millionths, exactly as it is written.
    private func decimal(
        _ value: JSONValue, _ ordinal: Int, _ plan: MemberPlan, of reader: ObjectReader<Member>
    ) throws(Rejection) -> Int64 {
        let millionths: Int64?
        switch (value.text, value.number) {
        case (let text?, _): millionths = Millionths.read(unsafe text.utf8.span, below: plan.greatest)
        case (_, .signed(let number)?): millionths = Millionths.read("\(number)".utf8.span, below: plan.greatest)
        case (_, .double?): millionths = Millionths.read(literal.span, below: plan.greatest)
        case (_, .unsigned?): millionths = nil
        default:
            throw reader.invalid(ordinal, "must be a number or its text, not \(value.kind.words)")
        }
        guard let millionths else {
            throw reader.invalid(
                ordinal, "must be a decimal number from 0 to below \(plan.greatest), such as 9.99 or \"9.99\"")
        }
        return millionths
    }

    /// Five bits for each letter, the first one lowest.
    private func letters(
        _ value: JSONValue, _ ordinal: Int, _ plan: MemberPlan, of reader: ObjectReader<Member>
    ) throws(Rejection) -> Int32 {
        let text = try word(value, ordinal, of: reader)
        var (bits, place): (Int32, Int32) = (0, 0)
        for byte in text.utf8 where place < plan.limit {
            guard 0x41...0x5A ~= byte else { break }
            bits |= Int32(byte - 0x40) << (5 * place)
            place += 1
        }
        guard text.count == plan.limit, place == plan.limit else {
            throw reader.invalid(ordinal, "must be \(plan.limit) letters from A to Z, such as EUR")
        }
        return bits
    }

    private func put(_ bits: Int32, _ plan: MemberPlan, into record: inout EventRecord) {
        if plan.goal == .own {
            record.own |= bits << Int32(plan.slot)
        } else {
            record.codes |= bits << Int32(plan.slot)
        }
    }

    private mutating func put(_ number: Int64, _ ordinal: Int, _ plan: MemberPlan, into record: inout EventRecord) {
        switch plan.goal {
        case .own: return put(Int32(number - plan.least + 1), plan, into: &record)
        case .rare: break
        default:
            // A larger one does not fit into its column.
            guard let small = Int32(exactly: number) else { break }
            if plan.goal == .seq { record.seq = small } else { record.amounts[Int(plan.slot)] = small }
            return
        }
        beginRare(ordinal)
        rare.write(raw: String(number))
    }

    private mutating func beginRare(_ ordinal: Int) {
        if !rare.isEmpty { rare.write(raw: ",") }
        rare.write(raw: "\"\(Member.allCases[ordinal].declaration.column ?? "")\":")
    }
}
