package import ServiceRuntime

/// One step of a schema's history, or one definition that is applied again whenever its text changes.
package struct Migration: Sendable {
    package let name: String
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// Updates a database to the version of this program. Never goes back.
///
/// Steps run in order, only once; definitions (views, functions) run again when their text changed. A run is one
/// transaction under one lock: a second runner waits and then finds nothing to do, and a killed one leaves nothing
/// behind.
package struct MigrationRunner: Sendable {
    private let schema: String
    private let steps: [Migration]
    private let definitions: [Migration]
    private let definitionsVersion: Int32
    private let ownSchemas: [String]

    /// `schema` contains the history. The version of the definitions increases with each change of one, so that an
    /// older program does not touch what a newer one defined. `ownSchemas` are all that it makes views in.
    package init(
        schema: String, steps: [Migration], definitions: [Migration], definitionsVersion: Int32 = 1,
        ownSchemas: [String] = []
    ) {
        self.ownSchemas = ownSchemas
        self.schema = schema
        self.definitionsVersion = definitionsVersion
        self.steps = steps
        self.definitions = definitions
    }

    /// The state of a database, as this program sees it.
    package enum State: Sendable, Equatable {
        case current
        /// `migrate` would run these.
        case pending([String])
        /// Applied by a newer program; this one must not touch it.
        case newer([String])
        /// Applied with another text than this program has.
        case drifted([String])
    }

    /// Reads the state of the database. Changes nothing.
    package func state(of connection: inout Connection) throws(PostgresError) -> State {
        let applied: [String: Applied]
        do { applied = try readHistory(&connection) } catch {
            guard error.state == .undefinedTable || error.state == .invalidSchemaName else { throw error }
            return .pending(steps.map(\.name) + definitions.map(\.name))
        }
        let hashes = try hash(&connection)
        return compare(applied, hashes)
    }

    /// Runs what is missing and returns its names; none if the database was up to date.
    package func run(on connection: inout Connection, log: Log) throws(MigrationError) -> [String] {
        do {
            let encoding: String = try connection.query("SELECT current_setting('server_encoding')")[0].get(0)
            guard encoding == "UTF8" else { throw MigrationError.encoding(encoding) }
            try createHistory(&connection)
        } catch let error as MigrationError { throw error } catch let error as PostgresError {
            throw .database(nil, error)
        } catch { throw .database(nil, .decoding("\(error)")) }
        CrashPoint.pass("history made")
        do {
            return try connection.transaction(failingWith: MigrationError.self) {
                (connection: inout Connection) throws(MigrationError) in try apply(on: &connection, log: log)
            }
        } catch {
            switch error {
            case .database(let error): throw .database(nil, error)
            case .body(.database(let name, let reason)) where reason.state == .dependentObjectsStillExist:
                let others = (try? dependents(on: &connection)) ?? []
                throw others.isEmpty ? .database(name, reason) : .dependents(others)
            case .body(let error): throw error
            }
        }
    }

    /// What others have made on our views. PostgreSQL cannot change a view under it.
    private func dependents(on connection: inout Connection) throws(PostgresError) -> [String] {
        var names: [String] = []
        for row in try connection.query(
            """
            SELECT DISTINCT format('%I.%I', theirs.nspname, view.relname)
            FROM pg_depend AS d
            JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            JOIN pg_class AS view ON view.oid = r.ev_class
            JOIN pg_namespace AS theirs ON theirs.oid = view.relnamespace
            JOIN pg_class AS source ON d.refclassid = 'pg_class'::regclass AND source.oid = d.refobjid
            JOIN pg_namespace AS ours ON ours.oid = source.relnamespace
            WHERE ours.nspname = ANY (\(ownSchemas)) AND theirs.nspname <> ALL (\(ownSchemas))
            ORDER BY 1
            """)
        { names.append(try row.get(0)) }
        return names
    }

    private func apply(on connection: inout Connection, log: Log) throws(MigrationError) -> [String] {
        let applied: [String: Applied]
        let hashes: [String: String]
        do {
            // Waits however long an earlier runner takes, and works however long the changes take.
            try connection.execute(script: "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
            try connection.query("LOCK TABLE \(identifier: schema).migration IN ACCESS EXCLUSIVE MODE")
            applied = try readHistory(&connection)
            hashes = try hash(&connection)
        } catch { throw .database(nil, error) }
        let pending: [String]
        switch compare(applied, hashes) {
        case .current: return []
        case .newer(let names): throw .newer(names)
        case .drifted(let names): throw .drifted(names)
        case .pending(let names): pending = names
        }
        for migration in steps + definitions where pending.contains(migration.name) {
            do {
                try connection.execute(script: migration.sql)
                try connection.query(
                    """
                    INSERT INTO \(identifier: schema).migration (name, hash, repeatable, version)
                    VALUES (\(migration.name), \(hashes[migration.name]),
                            \(definitions.contains { $0.name == migration.name }), \(definitionsVersion))
                    ON CONFLICT (name) DO UPDATE
                    SET hash = excluded.hash, version = excluded.version, applied_at = now()
                    """)
            } catch { throw .database(migration.name, error) }
            log.info("applied \(migration.name)")
            CrashPoint.pass("migrated")
        }
        return pending
    }

    private struct Applied {
        let hash: String
        let repeatable: Bool
        let version: Int32
    }

    private func compare(_ applied: [String: Applied], _ hashes: [String: String]) -> State {
        let known = Set(hashes.keys)
        let foreign = applied.filter { !$0.value.repeatable && !known.contains($0.key) }.keys.sorted()
        guard foreign.isEmpty else { return .newer(foreign) }
        let drifted = steps.map(\.name).filter { name in applied[name].map { $0.hash != hashes[name] } ?? false }
        guard drifted.isEmpty else { return .drifted(drifted) }
        let pending =
            steps.map(\.name).filter { applied[$0] == nil }
            + definitions.map(\.name).filter { name in
                applied[name].map { $0.hash != hashes[name] && $0.version <= definitionsVersion } ?? true
            }
        return pending.isEmpty ? .current : .pending(pending)
    }

    private func readHistory(_ connection: inout Connection) throws(PostgresError) -> [String: Applied] {
        var applied: [String: Applied] = [:]
        for row in try connection.query("SELECT name, hash, repeatable, version FROM \(identifier: schema).migration") {
            applied[try row.get(0)] = Applied(hash: try row.get(1), repeatable: try row.get(2), version: try row.get(3))
        }
        return applied
    }

    /// SHA-256 of each text, computed by the server, so that this module needs no hash function.
    private func hash(_ connection: inout Connection) throws(PostgresError) -> [String: String] {
        let all = steps + definitions
        let rows = try connection.query(
            """
            SELECT name, encode(sha256(convert_to(text, 'UTF8')), 'hex')
            FROM unnest(\(all.map(\.name)), \(all.map(\.sql))) AS carried (name, text)
            """)
        var hashes: [String: String] = [:]
        for row in rows { hashes[try row.get(0)] = try row.get(1) }
        return hashes
    }

    /// `IF NOT EXISTS` still fails if two sessions run it at the same moment; then the table exists, which is all we
    /// need.
    private func createHistory(_ connection: inout Connection) throws(PostgresError) {
        let existing = try connection.query(
            "SELECT to_regclass(\(Statement.quoted(schema) + ".migration")) IS NOT NULL")
        if let row = existing.first, try row.get(0) { return }
        do {
            try connection.execute(
                script: """
                    CREATE SCHEMA IF NOT EXISTS \(Statement.quoted(schema));
                    CREATE TABLE IF NOT EXISTS \(Statement.quoted(schema)).migration (
                        name text PRIMARY KEY, hash text NOT NULL, repeatable boolean NOT NULL,
                        version integer NOT NULL DEFAULT 1, applied_at timestamptz NOT NULL DEFAULT now());
                    """)
        } catch {
            let lostRace: Set<SQLState> = [.uniqueViolation, .duplicateSchema, .duplicateTable]
            guard let state = error.state, lostRace.contains(state) else { throw error }
            try createHistory(&connection)
        }
    }
}

extension MigrationRunner {
    /// What a database is whose steps had another text, and what to do. A released step never changes.
    package static func drift(_ names: [String]) -> String {
        let named = names.prefix(2).joined(separator: ", ") + (names.count > 2 ? " and \(names.count - 2) more" : "")
        return "the database was migrated with another text of \(named) than this program has, so a version before the "
            + "first release made it, or somebody changed it by hand: use the program that migrated it, or begin with "
            + "a new database"
    }
}

/// Why a database could not be updated. Nothing of the run was kept.
package enum MigrationError: Error, Sendable, CustomStringConvertible {
    case newer([String])
    case drifted([String])
    /// The database cannot hold every character.
    case encoding(String)
    case database(String?, PostgresError)
    /// Views of others stand on ours, which must be made anew.
    case dependents([String])

    package var description: String {
        switch self {
        case .newer(let names):
            "the database is newer than this program: it has \(names.joined(separator: ", ")). Use a newer bellwether"
        case .drifted(let names): MigrationRunner.drift(names) + ". Nothing was changed"
        case .encoding(let encoding):
            "the database's encoding is \(encoding), but must be UTF8: create another one with ENCODING 'UTF8' "
                + "TEMPLATE template0"
        case .database(let name?, let error): "migration \(name) failed, and nothing was changed: \(error)"
        case .dependents(let names):
            "views of Bellwether have to be made anew, and others stand on them: "
                + names.map { String(printable: $0) }.joined(separator: ", ") + ". Nothing was changed. "
                + "Drop those (DROP VIEW, or DROP MATERIALIZED VIEW), migrate, and make them again (dbt run does)"
        case .database(nil, let error): "migrating failed, and nothing was changed: \(error)"
        }
    }
}
