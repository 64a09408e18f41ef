internal import Accounts
internal import EventLog
internal import Postgres
internal import ServiceRuntime

extension Examination {
    /// The minimum rights of each role; the migrations grant more.
    private static let rights: [(role: LogSession.Role, object: String, privilege: String)] = [
        (.ingest, "log.event", "INSERT"), (.ingest, "log.batch", "INSERT"), (.ingest, "log.rejected", "INSERT"),
        (.ingest, "sends.send", "INSERT"), (.ingest, "registry.edition", "INSERT"),
        (.projector, "log.event", "SELECT"), (.projector, "projection.progress", "UPDATE"),
        (.projector, "projection.delivery", "INSERT"), (.reporter, "report.kept", "INSERT"),
        (.look, "log.reader_key", "SELECT"),
        (.analyst, "analytics.events", "SELECT"), (.analyst, "analytics.category_funnel", "SELECT"),
    ]

    static let roles = Examination(name: "roles") { _, connection in
        let all: [LogSession.Role] = [.ingest, .projector, .analyst, .reporter, .look]
        let row = try connection.query(
            """
            SELECT pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = 'log'), 'MEMBER'),
                ARRAY(SELECT name FROM unnest(\(all.map(\.rawValue))) AS name
                    WHERE NOT pg_has_role(current_user, name::name, 'MEMBER')),
                current_user::text
            """)[0]
        let (isOwner, missing, login): (Bool, [String], String) = (try row.get(0), try row.get(1), try row.get(2))
        guard isOwner else {
            return .warn(
                "\(login) is not the owner of the database", do: "run bellwether doctor as the owner",
                see: .rightMissing)
        }
        guard missing.isEmpty else {
            return .fail(
                "the owner \(login) may not act as \(missing.joined(separator: ", "))",
                do: missing.map { "GRANT \($0) TO \(Statement.quoted(login));" }.joined(separator: " "),
                see: .rightMissing)
        }
        let lost = try connection.query(
            """
            SELECT format('GRANT %s ON %s TO %s;', privilege, object, role)
            FROM unnest(\(rights.map(\.role.rawValue)), \(rights.map(\.object)), \(rights.map(\.privilege)))
                AS needed (role, object, privilege)
            WHERE NOT (has_schema_privilege(role, split_part(object, '.', 1), 'USAGE')
                AND has_table_privilege(role, object, privilege))
            """)
        guard lost.isEmpty else {
            var grants: [String] = []
            for row in lost { grants.append(try row.get(0)) }
            return .fail(
                "rights that the service needs were taken away",
                do: grants.joined(separator: " ") + " And USAGE on the schema, if that is missing", see: .rightMissing)
        }
        return .ok("all five roles are there, with the rights for their work")
    }
}

extension Examination {
    static let security = Examination(name: "security", readsOurs: false) { _, connection in
        let open = try Hardening.look(on: &connection).filter { !$0.open.isEmpty }
        guard let first = open.first else { return .ok("readers cannot hold up or use up the service") }
        return .warn(
            "open: \(open.map(\.hardening.name).joined(separator: ", ")); for one, \(first.hardening.danger)",
            do: "bellwether status --security prints the statements that close it", see: .readersFree)
    }
}
