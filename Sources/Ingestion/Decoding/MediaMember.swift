import JSON

/// The members of a receipt's `media`.
enum MediaMember: UInt8, MemberName {
    case kind, format, outcome, reason, bytes, ms, network

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .kind: "kind"
        case .format: "format"
        case .outcome: "outcome"
        case .reason: "reason"
        case .bytes: "bytes"
        case .ms: "ms"
        case .network: "network"
        }
    }
}
