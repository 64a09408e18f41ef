import CatalogueSupport
import Registry
import Telemetry
import Values

@testable import Envelopes
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

    let types = Dictionary(
        uniqueKeysWithValues: EventType.allCases.map { type in
            (type.wire, Members(members: type.members.map(\.key), required: type.required.map(\.key)))
        })

    /// By schema.
    let members = [
        "Source": Member.members(of: .source).map(\.key),
        "Notification": Member.members(of: .notification).map(\.key),
        "Media": Member.members(of: .media).map(\.key),
        "Send": SendMember.names,
        "Drop": DropMember.allCases.map { "\($0.name)" },
    ]

    /// By schema and member.
    let words = OpenAPIFacts.ofEvents(\.words).filter { !$0.value.isEmpty }.merging([
        "CategoryAction.activation": Button.Activation.allCases.map(\.rawValue),
        "CategoryAction.answer": Button.Answer.allCases.map(\.rawValue),
        "Drop.reason": ClientDrop.Reason.allCases.map(\.wire),
        "RegisteredExperiments.experiments.state": RegisteredExperiment.State.allCases.map(\.rawValue),
        "RejectionReason": RejectionReason.allCases.map(\.rawValue),
    ]) { $1 }

    /// By their places in the description.
    let bounds = OpenAPIFacts.boundsOfEvents.merging([
        "#/components/schemas/Categories/properties/categories/maxItems": Int64(RegistryLimits.categories),
        "#/components/schemas/Count/maximum": Bounds.count.upperBound,
        "#/components/schemas/Count/minimum": Bounds.count.lowerBound,
        "#/components/schemas/Envelope/properties/events/maxItems": Int64(Bounds.events),
        "#/components/schemas/EventIndex/maximum": Int64(Bounds.events - 1),
        "#/components/schemas/Experiment/properties/campaigns/maxItems": Int64(ExperimentLimits.campaigns),
        "#/components/schemas/Experiment/properties/goals/maxItems": Int64(ExperimentLimits.goals),
        "#/components/schemas/Experiments/properties/experiments/maxItems": Int64(ExperimentLimits.experiments),
        "#/components/schemas/Identifier/maxLength": Int64(Bounds.identifier),
        "#/components/schemas/Outcome/properties/results/maxItems": Int64(Bounds.events),
        "#/components/schemas/Sends/properties/sends/maxItems": Int64(SendBounds.sends),
        "#/components/schemas/SendsOutcome/properties/results/maxItems": Int64(SendBounds.sends),
        "#/components/schemas/Text/maxLength": Int64(Bounds.string),
    ]) { $1 }

    /// Every value that is worth trying, in an event that is complete else, and whether it is taken.
    let samples = Member.allCases.filter { $0 != .type }.flatMap(\.samples).enumerated()
        .compactMap { number, sample -> Try? in
            // Schemas leave unsaid that what cannot be read as a time is taken all the same, and they count characters,
            // not bytes.
            if case .time = sample.member.declaration.kind, sample.outcome == .kept { return nil }
            if sample.isRefused, !sample.json.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
            // Python sends doubles.
            if case .decimal = sample.member.declaration.kind, sample.json.utf8.count > 17 { return nil }
            let id = UUID(high: 0, low: UInt64(number)).description
            let event = EventText(sample.member.types[0].wire, id: id).with(sample)
            return Try(what: sample.description, event: event.text, isTaken: !sample.isRefused)
        }

    struct Try: Encodable {
        let what: String
        /// As JSON.
        let event: String
        let isTaken: Bool
    }

    private static var boundsOfEvents: [String: Int64] {
        var bounds: [String: Int64] = [:]
        for (name, kind) in ofEvents(\.declaration.kind) {
            let place = "#/components/schemas/" + name.replacing(".", with: "/properties/", maxReplacements: 1)
            let range: ClosedRange<Int64>? =
                switch kind {
                case .integer(let range) where range != Bounds.count: range
                case .number(let range): Int64(range.lowerBound)...Int64(range.upperBound)
                default: nil
                }
            bounds[place + "/minimum"] = range?.lowerBound
            bounds[place + "/maximum"] = range?.upperBound
        }
        return bounds
    }

    /// Something of each member, by schema and member.
    private static func ofEvents<Fact>(_ fact: (Member) -> Fact) -> [String: Fact] {
        var facts: [String: Fact] = [:]
        for member in Member.allCases {
            for schema in member.schemas { facts["\(schema).\(member.key)"] = fact(member) }
        }
        return facts
    }
}
