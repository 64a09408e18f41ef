import Registry
import Telemetry

@testable import Ingestion
@testable import Sends

/// What the program says of its interface, to be compared with what the description says.
struct OpenAPIFacts: Encodable {
    /// What one type of event is read from.
    struct Members: Encodable {
        let members: [String]
        let required: [String]
    }

    /// Problem codes with their status.
    let codes = Dictionary(uniqueKeysWithValues: Problem.Code.allCases.map { ($0.rawValue, $0.status) })

    let paths = Dictionary(uniqueKeysWithValues: Router.Path.allCases.map { ($0.rawValue, $0.methods) })

    let types = Dictionary(
        uniqueKeysWithValues: EventType.allCases.map { type in
            let known = EventMember.allCases.filter { EventMember.known(to: type) & $0.bit != 0 }
            return (
                type.wire,
                Members(
                    members: known.map { "\($0.name)" },
                    required: EventMember.required(by: type).map { ["\($0.name)"] } ?? [])
            )
        })

    /// By schema.
    let members = [
        "Source": SourceMember.allCases.map { "\($0.name)" },
        "Notification": NotificationMember.allCases.map { "\($0.name)" },
        "Media": MediaMember.allCases.map { "\($0.name)" },
        "Send": SendMember.names,
        "Drop": DropMember.allCases.map { "\($0.name)" },
    ]

    /// By schema and member.
    let words = [
        "ActionTapped.activation": words(of: Activation.self),
        "CategoryAction.activation": Button.Activation.allCases.map(\.rawValue),
        "CategoryAction.answer": Button.Answer.allCases.map(\.rawValue),
        "ActionTapped.handled_in": words(of: HandledIn.self),
        "Drop.reason": words(of: ClientDrop.Reason.self),
        "Launch": words(of: Launch.self),
        "Media.kind": words(of: MediaKind.self),
        "Media.network": words(of: MediaNetwork.self),
        "Media.outcome": words(of: MediaOutcome.self),
        "Media.reason": words(of: MediaReason.self),
        "Notification.origin": words(of: Origin.self),
        "NotificationReceived.fetch_result": words(of: FetchResult.self),
        "NotificationReceived.presentation": words(of: PresentationOption.self),
        "NotificationReceived.via": words(of: Via.self),
        "RejectionReason": RejectionReason.allCases.map(\.rawValue),
        "Source.authorization": words(of: Authorization.self),
        "StoryFallbackShown.reason": words(of: FallbackReason.self),
        "StoryPageShown.cause": words(of: PageCause.self),
    ]

    /// By their places in the description.
    let bounds = [
        "#/components/schemas/Categories/properties/categories/maxItems": Int64(RegistryLimits.categories),
        "#/components/schemas/Count/maximum": Bounds.count.upperBound,
        "#/components/schemas/Count/minimum": Bounds.count.lowerBound,
        "#/components/schemas/Envelope/properties/events/maxItems": Int64(Bounds.events),
        "#/components/schemas/EventCommon/properties/seq/maximum": Bounds.seq.upperBound,
        "#/components/schemas/EventCommon/properties/seq/minimum": Bounds.seq.lowerBound,
        "#/components/schemas/EventIndex/maximum": Int64(Bounds.events - 1),
        "#/components/schemas/Identifier/maxLength": Int64(Bounds.identifier),
        "#/components/schemas/Media/properties/ms/maximum": Bounds.mediaMilliseconds.upperBound,
        "#/components/schemas/Outcome/properties/results/maxItems": Int64(Bounds.events),
        "#/components/schemas/PageIndex/maximum": Bounds.pageIndex.upperBound,
        "#/components/schemas/PageIndex/minimum": Bounds.pageIndex.lowerBound,
        "#/components/schemas/Sends/properties/sends/maxItems": Int64(SendBounds.sends),
        "#/components/schemas/SendsOutcome/properties/results/maxItems": Int64(SendBounds.sends),
        "#/components/schemas/StoryStarted/properties/declared_page_count/maximum": Bounds.declaredPageCount.upperBound,
        "#/components/schemas/StoryStarted/properties/page_count/maximum": Bounds.pageCount.upperBound,
        "#/components/schemas/StoryStarted/properties/page_count/minimum": Bounds.pageCount.lowerBound,
        "#/components/schemas/Text/maxLength": Int64(Bounds.string),
    ]

    private static func words<Words: WireEnum>(of _: Words.Type) -> [String] { Words.allCases.map(\.wire) }
}
