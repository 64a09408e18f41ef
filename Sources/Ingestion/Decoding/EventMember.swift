import JSON
import Telemetry

/// The members of an event, of all types together.
enum EventMember: UInt8, MemberName {
    case id, type, at, seq, notification, source
    case via, presentation, fetchResult, media, summaryArgumentCount
    case launch
    case actionID, actionIndex, actionCount, activation, destructive, authenticationRequired, textInput, handledIn
    case pageCount, declaredPageCount, loops
    case pageIndex, declaredMS, cause
    case linkScheme, linkHost
    case reason
    case authorization, previous

    static let keys = JSONKeys(allCases.map(\.name))

    var name: StaticString {
        switch self {
        case .id: "id"
        case .type: "type"
        case .at: "at"
        case .seq: "seq"
        case .notification: "notification"
        case .source: "source"
        case .via: "via"
        case .presentation: "presentation"
        case .fetchResult: "fetch_result"
        case .media: "media"
        case .summaryArgumentCount: "summary_argument_count"
        case .launch: "launch"
        case .actionID: "action_id"
        case .actionIndex: "action_index"
        case .actionCount: "action_count"
        case .activation: "activation"
        case .destructive: "destructive"
        case .authenticationRequired: "authentication_required"
        case .textInput: "text_input"
        case .handledIn: "handled_in"
        case .pageCount: "page_count"
        case .declaredPageCount: "declared_page_count"
        case .loops: "loops"
        case .pageIndex: "page_index"
        case .declaredMS: "declared_ms"
        case .cause: "cause"
        case .linkScheme: "link_scheme"
        case .linkHost: "link_host"
        case .reason: "reason"
        case .authorization: "authorization"
        case .previous: "previous"
        }
    }

    /// The members that an event of this type is read from; any other is an unknown one for it.
    static func known(to type: EventType) -> UInt32 {
        let common = bits(.id, .type, .at, .seq, .notification, .source)
        return switch type {
        case .notificationReceived: common | bits(.via, .presentation, .fetchResult, .media, .summaryArgumentCount)
        case .notificationOpened: common | bits(.launch)
        case .actionTapped:
            common | bits(.actionID, .actionIndex, .actionCount, .activation, .destructive)
                | bits(.authenticationRequired, .textInput, .handledIn, .launch)
        case .storyStarted: common | bits(.pageCount, .declaredPageCount, .loops)
        case .storyPageShown: common | bits(.pageIndex, .declaredMS, .cause)
        case .storyActionTapped: common | bits(.pageIndex, .linkScheme, .linkHost)
        case .storyFallbackShown: common | bits(.reason)
        case .permissionChanged: common & ~bits(.notification) | bits(.authorization, .previous)
        case .notificationExpanded, .notificationDismissed, .storyFinished: common
        }
    }

    /// The member without which an event of this type says nothing.
    static func required(by type: EventType) -> EventMember? {
        switch type {
        case .actionTapped: .actionID
        case .storyStarted: .pageCount
        case .storyPageShown, .storyActionTapped: .pageIndex
        case .permissionChanged: .authorization
        default: nil
        }
    }

    private static func bits(_ members: EventMember...) -> UInt32 {
        members.reduce(0) { set, member in set | member.bit }
    }
}
