package import Postgres

extension FCMExportStore {
    /// Takes out the rows of all instances of an app that were erased, as the owner; says how many. They are known by what
    /// their install's events named. One that was interrupted is taken up by the next.
    package static func forgetErased(of app: Int32, on connection: inout Connection) throws(PostgresError) -> Int {
        try connection.transaction { connection throws(PostgresError) in
            try connection.execute(
                script: """
                    SET LOCAL statement_timeout = 0;
                    LOCK TABLE sends.fcm_row IN SHARE ROW EXCLUSIVE MODE;
                    SELECT log.open_gate();
                    """)
            try connection.query(
                """
                DELETE FROM sends.fcm_message AS m USING sends.erased_instance AS e
                WHERE m.app = \(app) AND e.app = \(app) AND m.first_at < e.erased_at
                    AND e.instance_hash = sha256(convert_to(m.instance_id, 'UTF8'))
                """)
            return try connection.query(
                """
                DELETE FROM sends.fcm_row AS r USING sends.erased_instance AS e
                WHERE r.app = \(app) AND e.app = \(app) AND r.event_at < e.erased_at
                    AND e.instance_hash = sha256(convert_to(r.instance_id, 'UTF8'))
                """
            ).affected
        }
    }
}
