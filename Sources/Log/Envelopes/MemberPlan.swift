import JSON
import Telemetry

/// How to read a member and where its value goes, as a flat copy of its declaration: the decoder uses it for each value
/// of an event.
struct MemberPlan: BitwiseCopyable {
    enum Kind: UInt8 { case none, text, code, codes, boolean, integer, number, decimal, letters, time }

    enum Goal: UInt8 {
        case none
        /// Bits from `slot` on, of the event's type or of all types.
        case own, common
        /// A slot of the texts, of the event or of its source.
        case text, fid
        /// A slot of the source's codes.
        case code
        /// A slot of the amounts.
        case amount
        case seq, sentAt, rare
    }

    var kind = Kind.none
    var goal = Goal.none
    var slot: UInt8 = 0
    /// Bytes of a text.
    var limit = 0
    /// The range of a whole number.
    var (least, greatest): (Int64, Int64) = (0, 0)
    /// The range of a code's words among all words.
    var (firstWord, words): (UInt8, UInt8) = (0, 0)
}

extension MemberPlan {
    fileprivate mutating func list(_ list: [String], _ bytes: inout [UInt8], _ ends: inout [Int]) {
        (firstWord, words) = (UInt8(ends.count - 1), UInt8(list.count))
        for word in list {
            bytes += Array(word.utf8)
            ends.append(bytes.count)
        }
    }
}

/// The plans of all members, and the words of their codes.
struct MemberPlans {
    /// By member.
    let plans: [MemberPlan]
    private let bytes: [UInt8]
    private let ends: [Int]

    init() {
        var (plans, bytes, ends): ([MemberPlan], [UInt8], [Int]) = ([], [], [0])
        for member in Member.allCases {
            let declaration = member.declaration
            var plan = MemberPlan()
            switch declaration.kind {
            case .uuid, .object: break
            case .type: plan.list(EventType.allCases.map(\.wire), &bytes, &ends)
            case .time: if member != .deviceAt { plan.kind = .time }
            case .text(let limit), .word(_, let limit): (plan.kind, plan.limit) = (.text, limit)
            case .boolean: plan.kind = .boolean
            case .integer(let range):
                plan.kind = .integer
                (plan.least, plan.greatest) = (range.lowerBound, range.upperBound)
            case .number: plan.kind = .number
            case .decimal(let whole): (plan.kind, plan.greatest) = (.decimal, whole)
            case .letters(let count): (plan.kind, plan.limit) = (.letters, count)
            case .code(let words), .codes(let words):
                plan.kind = if case .code = declaration.kind { .code } else { .codes }
                plan.list(words, &bytes, &ends)
            }
            if plan.kind != .none { (plan.goal, plan.slot) = MemberPlans.goal(of: member) }
            plans.append(plan)
        }
        (self.plans, self.bytes, self.ends) = (plans, bytes, ends)
    }

    private static func goal(of member: Member) -> (MemberPlan.Goal, UInt8) {
        let declaration = member.declaration
        switch declaration.storage {
        case .own(let bits): return (.own, UInt8(bits.first))
        case .common(let bits): return (.common, UInt8(bits.first))
        case .amount(let place): return (.amount, UInt8(place - 1))
        case .word(let place): return (.text, UInt8(EventRecord.Slot.own.lowerBound + place - 1))
        case .rare: return (.rare, 0)
        case .key:
            return switch member {
            case .fcmMessageID: (.text, UInt8(EventRecord.Slot.fcmMessageID))
            case .deliveryID: (.text, UInt8(EventRecord.Slot.deliveryID))
            default: (.text, UInt8(EventRecord.Slot.notificationID))
            }
        case .context: return (.text, place(of: declaration, among: EventRecord.contextWords))
        case .device:
            if case .code = declaration.kind {
                return (.code, UInt8(SourceRecord.codeMembers.firstIndex(of: member) ?? 0))
            }
            return (.text, place(of: declaration, among: SourceRecord.words))
        case .column:
            return switch member {
            case .seq: (.seq, 0)
            case .sentAt: (.sentAt, 0)
            case .fid: (.fid, 0)
            default: preconditionFailure("nobody reads \(member.path)")
            }
        case .none: return (.none, 0)
        }
    }

    private static func place(of declaration: Declaration, among kinds: [WordKind]) -> UInt8 {
        guard case .word(let kind, _) = declaration.kind, let place = kinds.firstIndex(of: kind) else {
            preconditionFailure("\(declaration.key) is no word of them")
        }
        return UInt8(place)
    }

    /// The place of a word among those of a code, from 1; 0 for an unknown word.
    func code(of text: JSONText, _ plan: MemberPlan) -> Int32 {
        let first = Int(plan.firstWord)
        for place in first..<first + Int(plan.words) where text.equals(bytes, from: ends[place], to: ends[place + 1]) {
            return Int32(place - first + 1)
        }
        return 0
    }
}
