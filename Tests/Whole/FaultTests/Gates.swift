import Glibc
import Postgres
import ServiceRuntime
import TestSupport
import Testing

/// Gates within PostgreSQL, where no client could stop: the backend of a writer or a projector waits at one that is
/// shut.
struct Gates {
    /// Where they stand in a writer's transaction, and in a projector's.
    enum Gate: Int32 {
        /// In the midst of COPY, with rows of its own already in the table.
        case copy = 1
        /// Under the head's lock, before the batch has its number.
        case number = 2
        /// Within COMMIT, before it is one.
        case commit = 3
        /// In the midst of a step: deliveries and funnels are written, its position is not.
        case step = 4
        /// Within the COMMIT of a step, before it is one.
        case stepCommit = 5

        static let writing: [Gate] = [.copy, .number, .commit]
        static let projecting: [Gate] = [.step, .stepCommit]
    }

    let url: String

    /// Builds them, all open.
    init(url: String) throws {
        self.url = url
        var connection = try Connection(url: url)
        try connection.execute(
            script: """
                CREATE FUNCTION public.pass_gate() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                BEGIN
                    PERFORM pg_advisory_xact_lock_shared(7, tg_argv[0]::integer);
                    RETURN new;
                END $$;
                CREATE TRIGGER gate AFTER INSERT ON log.event FOR EACH ROW EXECUTE FUNCTION public.pass_gate(1);
                CREATE TRIGGER gate BEFORE INSERT ON log.batch FOR EACH ROW EXECUTE FUNCTION public.pass_gate(2);
                CREATE CONSTRAINT TRIGGER late_gate AFTER INSERT ON log.batch DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION public.pass_gate(3);
                CREATE TRIGGER gate BEFORE UPDATE ON projection.progress
                    FOR EACH ROW EXECUTE FUNCTION public.pass_gate(4);
                CREATE CONSTRAINT TRIGGER late_gate AFTER UPDATE ON projection.progress DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION public.pass_gate(5);
                """)
    }

    /// Shuts one, runs `body` when a backend stands at it, and opens it again. `body` is given the backends that wait.
    func shut(_ gate: Gate, _ body: ([pid_t]) throws -> Void) throws {
        var keeper = try Connection(url: url)
        keeper.deadline = .after(seconds: 60)
        try keeper.query("SELECT pg_advisory_lock(7, \(gate.rawValue))")
        var waiting: [pid_t] = []
        let isReached = try eventually {
            var pids: [pid_t] = []
            for row in try keeper.query(
                "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Int64(gate.rawValue))::oid AND NOT granted"
            ) {
                pids.append(try row.get(0))
            }
            waiting = pids
            return !pids.isEmpty
        }
        #expect(isReached, "nobody came to the gate \(gate)")
        try body(waiting)
    }
}
