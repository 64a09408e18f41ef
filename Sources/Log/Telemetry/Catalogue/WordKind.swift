/// What a word of the dictionary is used for. The codes are frozen: stored words hold them.
package enum WordKind: Int16, CaseIterable, Sendable {
    case category = 1
    case thread
    case campaign
    case variant
    case analyticsLabel
    case topic
    case interruptionLevel
    case platform
    case osVersion
    case appVersion
    case sdk
    case deviceModel
    case locale
    case timeZone
    case actionID
    case linkScheme
    case linkHost
    case mediaFormat
    case goal

    /// The member that holds it.
    package var member: Member { WordKind.members[Int(rawValue) - 1] }

    private static let members: [Member] = allCases.map { kind in
        guard
            let member = Member.allCases.first(where: { member in
                if case .word(kind, _) = member.declaration.kind { true } else { false }
            })
        else { preconditionFailure("no member holds a \(kind)") }
        return member
    }
}
