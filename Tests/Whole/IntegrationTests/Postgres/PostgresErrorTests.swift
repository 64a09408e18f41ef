import EmbeddedPostgres
import Postgres
import ServiceRuntime
import TestSupport
import Testing

@Suite("What goes wrong with PostgreSQL")
struct PostgresErrorTests {
    @Test(
        "a refusal carries its SQLSTATE, constraint and detail, and its description neither statement nor stored values"
    )
    func refusal() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        try connection.execute(script: "CREATE TABLE person (name text CONSTRAINT one_of_a_name UNIQUE)")
        try connection.query("INSERT INTO person VALUES (\("tell-nobody"))")
        let error = try #require(
            throws: PostgresError.self,
            performing: { try connection.query("INSERT INTO person VALUES (\("tell-nobody"))") })
        guard case .server(let message) = error else {
            Issue.record("not the server's: \(error)")
            return
        }
        #expect(message.state == .uniqueViolation)
        #expect(message.constraint == "one_of_a_name")
        #expect(message.detail == "Key (name)=(tell-nobody) already exists.")
        #expect(
            error.description
                == "PostgreSQL says: duplicate key value violates unique constraint \"one_of_a_name\" (SQLSTATE 23505)")
        #expect(!error.isRetriable && !error.isUnavailable && message.state.blamesData)
        #expect(connection.isUsable == true && connection.isInTransaction == false)
        #expect(try connection.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
    }

    @Test("a hint is told, since it says what to do")
    func hint() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var connection = try database.connect()
        let error = #expect(throws: PostgresError.self) {
            try connection.execute(
                script: "DO $$ BEGIN RAISE 'no' USING HINT = 'Say please.', ERRCODE = 'BW001'; END $$")
        }
        #expect(error?.description == "PostgreSQL says: no (SQLSTATE BW001). Hint: Say please.")
    }

    @Test(
        "what a URL gets wrong is told without the password",
        arguments: [
            "postgresql://user:tell%zznobody@localhost/db", "postgresql://user:tell-nobody@localhost:notaport/db",
            "postgresql://user:tell-nobody@localhost/db?unheard_of=1", "host=localhost password tell-nobody",
            "host=localhost password='tell-nobody", "postgresql://user:tell-nobody@[::1/db",
            "postgresql://user:tell-nobody@127.0.0.1:1/db", "postgresql://user:tell-nobody@%2Ftmp%2Fnowhere/db",
            // A password with what must be escaped: libpq takes a part of it for a host, a port or a database.
            "postgresql://user:tell/nobody@127.0.0.1:1/db", "postgresql://user:tell@nobody@127.0.0.1:1/db",
            "postgresql://user:12/tell-nobody@127.0.0.1:1/db", "postgresql://user:a?b/tell-nobody@127.0.0.1:1/db",
            "postgresql://user:tell/nobody", "host=127.0.0.1 port=1 password=tell nobody=1",
            // Other programs' ways to write it.
            "posgresql://user:tell-nobody@127.0.0.1:1/db", "POSTGRESQL://user:tell-nobody@127.0.0.1:1/db",
            "postgresql:/user:tell-nobody@127.0.0.1/db", "user:tell-nobody@127.0.0.1/db", "user:tell-nobody",
            "jdbc:postgresql://127.0.0.1:1/db?user=user&password=tell-nobody",
            "posgresql://user:tell-nobody@127.0.0.1:1/db?sslmode=require",
            "host=127.0.0.1;port=1;password=tell-nobody", "Host=127.0.0.1;Username=user;Password=tell-nobody",
            "postgresql://127.0.0.1:1/db;password=tell-nobody", "postgresql://user;password=tell-nobody@127.0.0.1:1/db",
            "postgresql://127.0.0.1:1/db?sslmode=require;password=tell-nobody",
            "host=127.0.0.1 port=1 dbname=postgresql://user:tell-nobody@127.0.0.1:1/db",
        ])
    func password(url: String) {
        let error = #expect(throws: PostgresError.self) { _ = try Connection(url: url) }
        guard case .connection = error else {
            Issue.record("not a matter of the connection: \(String(describing: error))")
            return
        }
        #expect(error?.description.contains("nobody") == false)
        #expect(error?.description.contains("tell") == false)
        #expect(error?.isUnavailable == true)
    }

    @Test(
        "what libpq understands is tried, however odd",
        arguments: [
            "postgresql://user%40corp:tell-nobody@127.0.0.1:1/db", "postgresql://user:tell:no-body@127.0.0.1:1/db",
            "postgresql://user:tell?no=body@127.0.0.1:1/db",
            "postgres://127.0.0.1:1,127.0.0.1:1/db?password=tell@no/body",
            "postgresql://127.0.0.1:1/db?password=a://tell-nobody",
            "host=127.0.0.1 port=1 password='a://tell-no@body;='",
            "host=127.0.0.1,127.0.0.1 port=1,1 user=a@b", "postgresql://user:tell-nobody@%2Ftmp%2Fa%40b:1/db",
            "postgresql://@127.0.0.1:1/a%40b",
        ])
    func understood(url: String) {
        let error = #expect(throws: PostgresError.self) { _ = try Connection(url: url) }
        #expect(error?.description.contains(/refused|No such file/) == true, "\(String(describing: error))")
        #expect(error?.description.contains("tell") == false && error?.description.contains("body") == false)
    }

    @Test(
        "a mistyped connection string is told what is wrong with it, and how one is written",
        arguments: [
            ("host=h tell-nobody", "a word in it is not followed by ="),
            ("host=h tellnobody=1", "it has an option that libpq does not know"),
            ("postgresql://h/db?tellnobody=1", "after the ? there is an option that libpq does not know"),
            ("postgresql://h/db?tell-nobody", "an option after the ? is not followed by ="),
            ("postgresql://h/db?tell=no=body", "an option after the ? has two ="),
            ("host='tell-nobody", "unterminated quoted string in connection info string"),
        ])
    func mistyped(url: String, complaint: String) {
        let error = #expect(throws: PostgresError.self) { _ = try Connection(url: url) }
        let text = error?.description ?? ""
        #expect(
            text.contains("cannot be read (\(complaint))")
                && text.contains("postgresql://user:password@host:5432/database"))
        #expect(!text.contains("tell") && !text.contains("nobody"), "\(text)")
    }

    @Test("a word alone is the name of a database, for psql too")
    func nameAlone() throws {
        let variables = try ConnectionString.environment(of: "shop")
        #expect(variables.map(\.name) == ["PGDATABASE"] && variables.map(\.value) == ["shop"])
        let given = try ConnectionString.environment(of: "postgresql://u:tell-nobody@h:5/db?sslmode=require")
        #expect(
            Set(given.map { "\($0.name)=\($0.value)" }).isSuperset(of: [
                "PGUSER=u", "PGPASSWORD=tell-nobody", "PGHOST=h", "PGPORT=5", "PGDATABASE=db", "PGSSLMODE=require",
            ]))
        let error = #expect(throws: PostgresError.self) {
            try ConnectionString.environment(of: "postgresql://u:tell/nobody@h/db")
        }
        #expect(error?.description.contains("tell") == false && error?.description.contains("nobody") == false)
    }

    @Test("a database, role or server that is not there is a failed connection with the server's reason")
    func missing() throws {
        let cluster = try TestPostgres.shared()
        let error = #expect(throws: PostgresError.self) {
            _ = try Connection(url: cluster.connectionURL(database: "no_such_database"))
        }
        #expect(error?.description.contains("database \"no_such_database\" does not exist") == true)
    }

    @Test("a connection whose backend was terminated is lost, says so from then on, and others go on")
    func terminated() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var other = try database.connect()
        for whileInTransaction in [false, true] {
            var victim = try database.connect()
            let backend: Int32 = try victim.query("SELECT pg_backend_pid()")[0].get(0)
            if whileInTransaction { try victim.execute(script: "BEGIN") }
            #expect(try other.query("SELECT pg_terminate_backend(\(backend), 10000)")[0].get(0) == true)
            let first = #expect(throws: PostgresError.self) { try victim.query("SELECT 1") }
            guard case .connection(let reason) = first else {
                Issue.record("not a matter of the connection: \(String(describing: first))")
                continue
            }
            #expect(reason.contains("terminating connection due to administrator command"))
            #expect(victim.isUsable == false)
            let second = #expect(throws: PostgresError.self) { try victim.query("SELECT 1") }
            #expect(second?.description == "no connection to PostgreSQL: the connection was lost earlier")
            #expect(throws: PostgresError.self) { try victim.pipeline(["SELECT 1"]) }
            #expect(throws: PostgresError.self) {
                try victim.copyIn("COPY t FROM STDIN (FORMAT binary)", CopyRows(columns: 1))
            }
            victim.rollBack()
        }
        #expect(try other.query("SELECT 1")[0].get(0, as: Int32.self) == 1)
    }

    @Test("a backend terminated in the middle of a pipeline or a COPY loses the connection as well")
    func terminatedAtWork() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        var victim = try database.connect()
        let inPipeline = #expect(throws: PostgresError.self) {
            try victim.pipeline(["SELECT 1", "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT 2"])
        }
        #expect(isLost(inPipeline) && victim.isUsable == false)
        victim = try database.connect()
        let inCopy = #expect(throws: PostgresError.self) {
            try victim.copyOut(
                "COPY (SELECT pg_terminate_backend(pg_backend_pid())) TO STDOUT (FORMAT binary)", { _ in })
        }
        #expect(isLost(inCopy) && victim.isUsable == false)
    }

    private func isLost(_ error: PostgresError?) -> Bool {
        if case .connection = error { true } else { false }
    }

    @Test("notices of the server reach the log, warnings as warnings, and nothing is printed")
    func notices() throws {
        let database = try TestDatabase.make(.empty)
        defer { database.drop() }
        let lines = LogLines()
        var connection = try database.connect(log: lines.log)
        try connection.execute(script: "DO $$ BEGIN RAISE NOTICE 'by the way'; RAISE WARNING 'mind the gap'; END $$")
        #expect(lines.all.count == 2)
        #expect(
            lines.all.first?.contains(#""level":"debug","message":"PostgreSQL: by the way","severity":"NOTICE""#)
                == true)
        #expect(lines.all.last?.contains(#""level":"warning","message":"PostgreSQL: mind the gap""#) == true)
    }

    @Test(
        "states that pass by themselves are retriable, and those that do not are not",
        arguments: [
            ("08006", true), ("40001", true), ("40P01", true), ("53300", true), ("53100", true), ("55P03", true),
            ("57014", true), ("57P01", true), ("57P03", true), ("58030", true), ("55006", true), ("25006", true),
            ("25P03", true), ("72000", true),
            ("23505", false), ("23514", false), ("22021", false), ("22003", false), ("42P01", false), ("42601", false),
            ("42501", false), ("28P01", false), ("3D000", false), ("0A000", false), ("54000", false), ("XX000", false),
            ("25P02", false), ("P0001", false), ("55000", false),
        ])
    func retriable(code: String, expected: Bool) {
        #expect(SQLState(code).isRetriable == expected)
    }

    @Test(
        "states that blame the values are told from those that blame anything else",
        arguments: [
            ("21000", true), ("22021", true), ("22008", true), ("23502", true), ("23514", true), ("44000", true),
            ("54000", true), ("40001", false), ("42P01", false), ("53100", false), ("57014", false), ("08006", false),
        ])
    func blamesData(code: String, expected: Bool) {
        #expect(SQLState(code).blamesData == expected)
    }
}
