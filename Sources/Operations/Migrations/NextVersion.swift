internal import Postgres

#if DEBUG
internal import Glibc
#endif

/// What some later version of this program changes: a step, a definition, and the rules of a funnel. So an upgrade with
/// events coming in is tried before there is a later version. In a debug build a process has it if
/// `BELLWETHER_NEXT_VERSION` is set; a release build contains no trace of it.
enum NextVersion {
    #if DEBUG
    private static let isPretended = unsafe getenv("BELLWETHER_NEXT_VERSION") != nil

    static let steps =
        isPretended
        ? [
            Migration(
                name: "9999_next_version",
                sql: """
                    -- Why: to try an upgrade. What the old rules have counted is older than this program's.
                    CREATE TABLE bellwether.next_version (number integer);
                    UPDATE projection.projector SET version = version - 1 WHERE name = 'thread_funnel';
                    """)
        ] : []

    static let definitionsAhead: Int32 = isPretended ? 1 : 0

    static func definition(_ present: Migration) -> Migration {
        guard isPretended, present.name == "view_projections" else { return present }
        return Migration(name: present.name, sql: present.sql + "\n-- The next version.\n")
    }
    #else
    static let steps: [Migration] = []
    static let definitionsAhead: Int32 = 0
    static func definition(_ present: Migration) -> Migration { present }
    #endif
}
