import JSON

/// The members of an entry of the envelope's `dropped`.
enum DropMember: Int, CaseIterable, MemberName {
    case id, count, since, reason

    static let keys = JSONKeys(allCases.map(\.name))

    var ordinal: Int { rawValue }

    var name: StaticString {
        switch self {
        case .id: "id"
        case .count: "count"
        case .since: "since"
        case .reason: "reason"
        }
    }
}
