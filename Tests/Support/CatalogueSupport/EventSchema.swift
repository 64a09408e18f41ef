internal import Telemetry

/// The catalogue as a JSON Schema of one event, as it stands in `events`, or in the `data` of a CloudEvent.
package enum EventSchema {
    package static var text: String {
        let types = EventType.allCases.map { type in JSONTree.object([("$ref", .text("#/$defs/\(type.schema)"))]) }
        var definitions: [(String, JSONTree)] = EventType.allCases.map { ($0.schema, schema(of: $0)) }
        for object in Declaration.Object.allCases where object != .event {
            definitions.append((object.schema, schema(of: object)))
        }
        let root: JSONTree = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "An event of Bellwether",
            "description":
                "One thing that happened on one install. It needs an install_id in its source, unless the envelope's source or the CloudEvent around it names one. Members that are not here are kept as JSON; null and an empty text count as absent; lengths are counted in bytes",
            "type": "object",
            "oneOf": .list(types),
            "$defs": .object(definitions),
        ]
        return root.text() + "\n"
    }

    private static func schema(of type: EventType) -> JSONTree {
        let properties = type.members.map { member in
            (member.key, member == .type ? ["const": .text(type.wire)] : schema(of: member))
        }
        let tree: JSONTree = [
            "description": .text(type.comment), "type": "object", "properties": .object(properties),
        ]
        return tree.with([("required", .list(type.required.map { .text($0.key) }))])
    }

    private static func schema(of object: Declaration.Object) -> JSONTree {
        let members = Member.members(of: object)
        let tree: JSONTree = [
            "type": "object", "properties": .object(members.map { ($0.key, schema(of: $0)) }),
        ]
        guard object == .notification else { return tree }
        let keys = members.filter { member in if case .key = member.declaration.storage { true } else { false } }
        let choices = keys.map { key -> JSONTree in
            [
                "required": .list([.text(key.key)]),
                "properties": .object([(key.key, .object([("minLength", 1)]))]),
            ]
        }
        return tree.with([("anyOf", .list(choices))])
    }

    private static func schema(of member: Member) -> JSONTree {
        let comment = [("description", JSONTree.text(member.comment))]
        guard member.declaration.isRequired else { return member.declaration.kind.schema.with(comment) }
        let isText =
            switch member.declaration.kind {
            case .text, .word, .code: true
            default: false
            }
        return member.declaration.kind.schema.with((isText ? [("minLength", 1)] : []) + comment)
    }
}

extension Declaration.Object {
    fileprivate var schema: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension Declaration.Kind {
    fileprivate var schema: JSONTree {
        switch self {
        case .uuid:
            [
                "type": "string",
                "pattern": "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
            ]
        case .type: ["type": "string"]
        case .time:
            [
                "anyOf": [
                    ["type": "string", "format": "date-time", "pattern": "^[2-9][0-9]{3}-"],
                    ["type": "number", "minimum": 946_684_800_000, "exclusiveMaximum": 253_402_300_800_000],
                ],
                "$comment": "RFC 3339 with an offset, or milliseconds since 1970",
            ]
        case .object(let object): ["$ref": .text("#/$defs/\(object.schema)")]
        case .text(let limit), .word(_, let limit):
            ["type": "string", "maxLength": .number(Int64(limit)), "pattern": "^[^\\u0000]*$"]
        // A word that is not among them is taken, too.
        case .code(let words): ["anyOf": [["enum": .list(words.map { .text($0) })], ["type": "string"]]]
        case .codes(let words): ["type": "array", "items": Declaration.Kind.code(words).schema]
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            ["type": "integer", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
        case .number(let range):
            [
                "type": "number", "minimum": .number(Int64(range.lowerBound)),
                "maximum": .number(Int64(range.upperBound)),
            ]
        case .decimal(let whole):
            [
                "anyOf": [
                    ["type": "number", "minimum": 0, "exclusiveMaximum": .number(whole)],
                    ["type": "string", "pattern": "^[0-9]{1,12}(\\.[0-9]{1,300})?$"],
                ]
            ]
        case .letters(let count): ["type": "string", "pattern": .text("^([A-Z]{\(count)})?$")]
        }
    }
}
