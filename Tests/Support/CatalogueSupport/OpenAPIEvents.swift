package import Telemetry
internal import Values

/// The schemas of events, as they stand in `openapi.yaml` under `components: schemas:`.
package enum OpenAPIEvents {
    package static var text: String {
        var writer = YAMLWriter(level: 2)
        writeEvent(&writer)
        writer.nest("EventCommon") { writer in
            writer.line("type: object")
            writer.describe("What every event has")
            write(Member.members(of: .event).filter { $0.schemas == ["EventCommon"] }, &writer)
        }
        writer.nest("NotificationEvent") { writer in
            writer.describe("What every event about a notification has")
            writer.line("allOf: [{$ref: '#/components/schemas/EventCommon'}]")
            write([.notification], &writer)
        }
        for type in EventType.allCases {
            writer.nest(type.schema) { writer in
                writer.describe(type.comment)
                writer.line("allOf: [{$ref: '#/components/schemas/\(type.baseSchema)'}]")
                write(type.members.filter { $0.schemas.contains(type.schema) }, &writer, of: type)
            }
        }
        writer.nest("Notification") { writer in
            writer.line("type: object")
            writer.describe(
                """
                Which notification it is about. The first of `fcm_message_id`, `delivery_id` and `id` that is there names \
                the delivery, so send the same one with every event of it; one of them is required
                """)
            write(Member.members(of: .notification), &writer)
            writer.nest("anyOf") { writer in
                for member in Member.members(of: .notification) {
                    guard case .key = member.declaration.storage else { continue }
                    writer.line("- required: [\(member.key)]")
                    writer.line("  properties: {\(member.key): {minLength: 1}}")
                }
            }
        }
        writer.nest("Source") { writer in
            writer.line("type: object")
            writer.describe("The install that speaks and what it runs on. Nothing here names a person")
            // An event may leave it to the envelope to name the install.
            write(Member.members(of: .source), &writer, requires: false)
        }
        writer.nest("Settings") { writer in
            writer.line("type: object")
            writer.describe("How the system shows the app's notifications, as the user has set it")
            write(Member.members(of: .settings), &writer)
        }
        writer.nest("Media") { writer in
            writer.line("type: object")
            writer.describe("What became of a notification's picture, film or sound")
            write(Member.members(of: .media), &writer)
        }
        return writer.text
    }

    private static func writeEvent(_ writer: inout YAMLWriter) {
        writer.nest("Event") { writer in
            writer.describe("One thing that happened on one install, to a notification or to the install itself")
            writer.nest("oneOf") { writer in
                for type in EventType.allCases { writer.line("- $ref: '#/components/schemas/\(type.schema)'") }
            }
            writer.nest("discriminator") { writer in
                writer.line("propertyName: type")
                writer.nest("mapping") { writer in
                    for type in EventType.allCases {
                        writer.line("\(type.wire): '#/components/schemas/\(type.schema)'")
                    }
                }
            }
        }
    }

    /// The members of a schema; of the schema of a type the type itself is one.
    private static func write(
        _ members: [Member], _ writer: inout YAMLWriter, of type: EventType? = nil, requires: Bool = true
    ) {
        func isRequired(_ member: Member) -> Bool {
            type.map { member.isRequired(of: $0) } ?? member.declaration.isRequired
        }
        let required = members.filter { requires && isRequired($0) }
        if !required.isEmpty { writer.line("required: [\(required.map(\.key).joined(separator: ", "))]") }
        writer.nest("properties") { writer in
            if let type { writer.line("type: {const: \(type.wire)}") }
            for member in members {
                writer.nest(member.key) { writer in
                    member.declaration.kind.write(to: &writer)
                    if member.declaration.isRequired, member.declaration.kind.isText { writer.line("minLength: 1") }
                    writer.describe(member.comment)
                }
            }
        }
    }
}

extension EventType {
    /// `StoryPageShown`.
    package var schema: String {
        name.split { $0 == "." || $0 == "_" }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    fileprivate var baseSchema: String { hasNotification ? "NotificationEvent" : "EventCommon" }
}

extension Member {
    /// The schemas that describe it.
    package var schemas: [String] {
        switch declaration.object {
        case .event where types == EventType.allCases: ["EventCommon"]
        case .event where self == .notification:
            ["NotificationEvent"] + types.filter(\.isAboutInstall).map(\.schema)
        case .event: types.map(\.schema)
        case .notification: ["Notification"]
        case .source: ["Source"]
        case .settings: ["Settings"]
        case .media: ["Media"]
        }
    }
}

extension Declaration.Kind {
    fileprivate var isText: Bool {
        switch self {
        case .text, .word, .code: true
        default: false
        }
    }

    fileprivate func write(to writer: inout YAMLWriter) {
        switch self {
        case .uuid: writer.line("$ref: '#/components/schemas/UUID'")
        case .type: writer.line("type: string")
        case .time: writer.line("$ref: '#/components/schemas/Time'")
        case .object(let object):
            let name = object.rawValue.prefix(1).uppercased() + object.rawValue.dropFirst()
            writer.line("$ref: '#/components/schemas/\(name)'")
        case .text(Bounds.identifier), .word(_, Bounds.identifier):
            writer.line("$ref: '#/components/schemas/Identifier'")
        case .text(Bounds.string), .word(_, Bounds.string): writer.line("$ref: '#/components/schemas/Text'")
        case .text(let limit), .word(_, let limit):
            writer.line("type: string")
            writer.line("maxLength: \(limit)")
            writer.line("pattern: '^[^\\u0000]*$'")
        // A word that is not among them is taken, too.
        case .code(let words):
            writer.nest("anyOf") { writer in
                // Many readers of YAML take these for booleans.
                let quoted = words.map { ["on", "off", "yes", "no"].contains($0) ? "'\($0)'" : $0 }
                writer.line("- enum: [\(quoted.joined(separator: ", "))]")
                writer.line("- type: string")
            }
        case .codes(let words):
            writer.line("type: array")
            writer.nest("items") { Declaration.Kind.code(words).write(to: &$0) }
        case .boolean: writer.line("type: boolean")
        case .integer(Bounds.count): writer.line("$ref: '#/components/schemas/Count'")
        case .integer(let range): writer.write("integer", range)
        case .number(let range): writer.write("number", range)
        case .decimal(let whole):
            writer.nest("anyOf") { writer in
                writer.line("- {type: number, minimum: 0, exclusiveMaximum: \(whole)}")
                writer.line("- {type: string, pattern: '^[0-9]{1,12}(\\.[0-9]{1,300})?$'}")
            }
        case .letters(let count):
            writer.line("type: string")
            writer.line("pattern: '^([A-Z]{\(count)})?$'")
        }
    }
}
