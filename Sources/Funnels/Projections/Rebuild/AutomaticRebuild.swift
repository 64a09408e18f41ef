package import Postgres
internal import ServiceRuntime

/// Rebuilds projections that older rules counted, or that were counted before words were merged or pruned, and builds
/// missing ones. After an update of this program, tables of an older version do not change until then.
///
/// A runner that is logged in as the owner of the tables does this by itself. Only one of several nodes does it at a
/// time, which merely saves work: two that rebuild the same projections share the work, and both succeed.
package struct AutomaticRebuild: Sendable {
    let control: ProjectionControl

    package init(_ control: ProjectionControl) {
        self.control = control
    }

    /// How it went.
    package enum Attempt: Sendable {
        /// All projections are counted by the rules of this program and under the present words.
        case nothingToDo
        case made([String], Rebuild.Completion)
        /// Another node is rebuilding.
        case busy
        /// These projections need a rebuild, but this login does not own the tables.
        case notOwner([String])
    }

    /// The projections to rebuild: all of them if words were merged or pruned since, or else those of older rules.
    package static func due(
        of projectors: [any Projector.Type] = Projectors.all, on connection: inout Connection
    ) throws(PostgresError) -> [String] {
        guard try isDueByWords(on: &connection), try !isOfNewerProgram(projectors, on: &connection) else {
            return try dueByRules(of: projectors, on: &connection)
        }
        return [DeliveryTable.projector] + projectors.map { $0.name }
    }

    /// Whether words were merged or pruned after the live generation was made. The command that did it rebuilds; this
    /// is true while it works, and after it was interrupted.
    package static func isDueByWords(on connection: inout Connection) throws(PostgresError) -> Bool {
        try connection.query(
            """
            SELECT EXISTS (
                SELECT FROM projection.generation AS l JOIN log.head AS h ON h.words > l.words WHERE l.state = 'live')
            """
        ).value()
    }

    /// The projections of the live generation that were counted by older rules, or not at all. If the deliveries are
    /// among them, they come first, and every projection needs a rebuild.
    package static func dueByRules(
        of projectors: [any Projector.Type] = Projectors.all, on connection: inout Connection
    ) throws(PostgresError) -> [String] {
        let stored = try storedVersions(on: &connection)
        let versions = Projectors.versions(of: projectors)
        // If there is no generation, or a newer program was here, we do nothing.
        guard !stored.isEmpty, !isNewer(stored, than: versions) else { return [] }
        return ([DeliveryTable.projector] + projectors.map { $0.name }).filter { name in
            stored[name] ?? 0 < versions[name] ?? 0
        }
    }

    private static func isOfNewerProgram(
        _ projectors: [any Projector.Type], on connection: inout Connection
    ) throws(PostgresError) -> Bool {
        isNewer(try storedVersions(on: &connection), than: Projectors.versions(of: projectors))
    }

    private static func isNewer(_ stored: [String: Int32], than versions: [String: Int32]) -> Bool {
        stored.contains { $1 > versions[$0] ?? 0 }
    }

    private static func storedVersions(on connection: inout Connection) throws(PostgresError) -> [String: Int32] {
        let rows = try connection.query(
            """
            SELECT p.name, p.version FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE l.state = 'live'
            """)
        var stored: [String: Int32] = [:]
        for row in rows { stored[try row.get("name")] = try row.get("version") }
        return stored
    }

    /// Rebuilds what is due. An interrupted rebuild continues when this is run again.
    package func run(progress: @escaping @Sendable (Rebuild.Phase) -> Void = { _ in }) throws -> Attempt {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "renewal", log: control.log)
        guard try !Self.due(of: control.projectors, on: &connection).isEmpty else { return .nothingToDo }
        // Only the owner: tables of anybody else would not let the projections write to them.
        let isOwner: Bool = try connection.query(
            "SELECT nspowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) FROM pg_namespace WHERE nspname = 'projection'"
        ).value()
        guard isOwner else { return .notOwner(try Self.due(of: control.projectors, on: &connection)) }
        guard let turn = try takeTurn() else { return .busy }
        defer { withExtendedLifetime(turn) {} }
        // The node that had the turn before us may have rebuilt them.
        let due = try Self.due(of: control.projectors, on: &connection)
        guard !due.isEmpty else { return .nothingToDo }
        control.log.info(
            "rules or words have changed: rebuilding funnels from the log; the old ones stay readable",
            ["projections": due.joined(separator: " ")])
        return .made(due, try Rebuild(control, names: due).run(progress: progress))
    }

    /// Opens a session that holds the turn until it ends; nil if another node has the turn.
    ///
    /// It locks a table, since anybody who can connect could take an advisory lock. This lock mode uses no transaction
    /// id, so it does not hold up vacuum.
    private func takeTurn() throws(PostgresError) -> Turn? {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "renewal turn", log: control.log)
        do {
            try connection.execute(
                script: """
                    BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
                    LOCK TABLE projection.renewal IN SHARE UPDATE EXCLUSIVE MODE NOWAIT
                    """)
        } catch {
            guard error.state == .lockNotAvailable else { throw error }
            return nil
        }
        return Turn(connection: connection)
    }

    /// Ends with its session.
    private struct Turn: ~Copyable {
        let connection: Connection
    }
}
