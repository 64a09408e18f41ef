package import Postgres
internal import ServiceRuntime

/// Makes anew what older rules have counted, and what has yet to be built: after an update of this program, tables of an
/// older version stand still until then.
///
/// Whoever runs the projections does this by itself where it is logged in as the owner of the tables. Of several nodes one
/// is at it at a time; that is only to spare the work, since two that rebuild the same share it and both end well.
package struct AutomaticRebuild: Sendable {
    let control: ProjectionControl

    package init(_ control: ProjectionControl) {
        self.control = control
    }

    /// How it went.
    package enum Outcome: Sendable {
        /// Everything is counted by the rules of this program.
        case nothingToDo
        case made([String], Rebuild.Outcome)
        /// Somebody else is at it.
        case busy
        /// These wait, and this login does not own the tables.
        case notOwner([String])
    }

    /// The projections of the live generation that were counted by older rules, or not at all; the deliveries first, and with
    /// them all have to be made anew.
    package static func due(
        of projectors: [any Projector.Type] = Projectors.all, on connection: inout Connection
    ) throws(PostgresError) -> [String] {
        let rows = try connection.query(
            """
            SELECT p.name, p.version FROM projection.projector AS p JOIN projection.generation AS l ON l.id = p.generation
            WHERE l.state = 'live'
            """)
        var stored: [String: Int32] = [:]
        for row in rows { stored[try row.get(0)] = try row.get(1) }
        let versions = Projectors.versions(of: projectors)
        // Where there is no generation, or a newer program has been, it is not for us to say.
        guard !stored.isEmpty, !stored.contains(where: { $1 > versions[$0] ?? 0 }) else { return [] }
        return ([DeliveryTable.projector] + projectors.map { $0.name }).filter { name in
            stored[name] ?? 0 < versions[name] ?? 0
        }
    }

    /// Makes anew what has to be. Cut short, it goes on where it was when it is run again.
    package func run(progress: @escaping @Sendable (Rebuild.Phase) -> Void = { _ in }) throws -> Outcome {
        var connection = try ProjectionSession.open(
            url: control.url, role: nil, purpose: "renewal", log: control.log)
        guard try !Self.due(of: control.projectors, on: &connection).isEmpty else { return .nothingToDo }
        // Whoever else makes tables would make some that the projections may not write.
        let isOwner: Bool = try connection.query(
            "SELECT nspowner = current_user::regrole FROM pg_namespace WHERE nspname = 'projection'")[0].get(0)
        guard isOwner else { return .notOwner(try Self.due(of: control.projectors, on: &connection)) }
        guard let turn = try takeTurn() else { return .busy }
        defer { withExtendedLifetime(turn) {} }
        // Who was at it before us may have made it.
        let due = try Self.due(of: control.projectors, on: &connection)
        guard !due.isEmpty else { return .nothingToDo }
        control.log.info(
            "rules have changed: rebuilding funnels from the log; the old ones stay readable",
            ["projections": due.joined(separator: " ")])
        return .made(due, try Rebuild(control, names: due).run(progress: progress))
    }

    /// A session that holds the turn for as long as it is there; nil when somebody else has it.
    ///
    /// A lock on a table, since everybody who can connect could take an advisory lock. Of this mode it takes no transaction
    /// number, so that nothing is kept from being cleaned up meanwhile.
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

    /// Ends with the session.
    private struct Turn: ~Copyable {
        let connection: Connection
    }
}
