internal import Telemetry

/// A stored event as a CloudEvent that `POST /v1/events` takes again, so that it counts there as it does here.
///
/// Its time is when the event occurred as far as is known here: posted elsewhere, nothing of it is corrected again.
/// What stands in `extra` goes back to where it was posted.
enum CloudEvents {
    /// SQL for the JSON text, given a row `e` of `analytics.events`.
    static let sql = """
        jsonb_build_object(
            'specversion', '1.0', 'id', e.event_id, 'source', '/apps/' || e.app, 'subject', e.install_id,
            'type', e.type, 'time', e.occurred_at, 'datacontenttype', 'application/json', 'data', \(data))::text
        """

    private static var data: String {
        let objects: [(Declaration.Object, String)] = [
            (.notification, object(.notification)),
            (.source, "\(object(.source)) || \(present("settings", object(.settings)))"),
            (.media, object(.media)),
        ]
        let parts = objects.map { name, members in present(name.rawValue, joined(members, "e.extra -> '\(name)'")) }
        let rest = "coalesce(e.extra - '{\(objects.map(\.0.rawValue).joined(separator: ","))}'::text[], '{}')"
        return "\(object(.event)) || \(rest) || \(parts.joined(separator: " || "))"
    }

    /// An object of what the columns hold, without what is null.
    private static func object(_ object: Declaration.Object) -> String {
        let pairs = Member.members(of: object).compactMap { member in
            member.declaration.column.map { "'\(member.declaration.key)', \(value(of: member, $0))" }
        }
        return "jsonb_strip_nulls(jsonb_build_object(\(pairs.joined(separator: ", "))))"
    }

    private static func value(of member: Member, _ column: String) -> String {
        let declaration = member.declaration
        let value =
            switch declaration.kind {
            case .decimal: "e.\(column)::text"
            default: member == .deviceAt ? "e.occurred_at" : "e.\(EventViews.quoted(column))"
            }
        let isShared = Member.allCases.count { $0.declaration.column == column } > 1
        guard isShared, declaration.types != .all else { return value }
        let types = EventType.allCases.filter { declaration.types.contains($0) }.map { "'\($0.wire)'" }
        return "CASE WHEN e.type IN (\(types.joined(separator: ", "))) THEN \(value) END"
    }

    /// An object and what `extra` has of it, which counts where both have a member. Something else than an object was
    /// posted as an unknown member.
    private static func joined(_ object: String, _ extra: String) -> String {
        "CASE jsonb_typeof(\(extra)) WHEN 'object' THEN \(object) || (\(extra)) ELSE coalesce(\(extra), \(object)) END"
    }

    /// An object with this member, or an empty one if there is nothing in it.
    private static func present(_ name: String, _ value: String) -> String {
        "coalesce((SELECT jsonb_build_object('\(name)', v) FROM (SELECT \(value) AS v OFFSET 0) AS v WHERE v <> '{}'), "
            + "'{}')"
    }
}
