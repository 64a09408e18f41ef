package import Postgres
package import Reports
package import Values

/// One report for one place, on its way or at its end.
package struct Letter: Sendable {
    package let id: UUID
    package let app: String
    package let period: String
    package let place: String
    package let attempts: Int32
    /// Whether an earlier attempt may have reached the place.
    package let mayHaveArrived: Bool

    /// What it says.
    package struct Contents: Sendable {
        package let subject, summary, text, mail, json: String
    }

    /// A letter that was not taken within so many days is no news any more.
    package static let mostDays = 7
    /// A night has five attempts at most, where it repeats what failed (Examples/systemd).
    package static let mostAttempts: Int32 = 35
}

/// All SQL on letters.
package enum Letters {
    /// Writes a letter to each place that wants this report. Whatever is made again later, each place gets it once. Run
    /// it in the transaction that keeps the report.
    package static func write(
        _ message: ReportMessage, to places: [Place], on connection: inout Connection
    ) throws(PostgresError) {
        for place in places {
            guard let isTold = place.wants(message) else { continue }
            try connection.query(
                """
                INSERT INTO report.letter (app, period, day, place, state, ended_at, subject, summary, as_text, as_mail,
                    as_json)
                SELECT \(message.app), \(message.period.name), \(message.period.days.upperBound), \(place.name), new.*
                FROM (SELECT 'waiting', NULL::timestamptz, \(message.subject), \(message.summary), \(message.text),
                        \(message.mail), \(message.json)
                    WHERE \(isTold)
                    UNION ALL SELECT 'nothing_to_tell', now(), NULL, NULL, NULL, NULL, NULL WHERE NOT \(isTold)) AS new
                ON CONFLICT (app, period, place) DO NOTHING
                """)
        }
    }

    /// Takes the only round, until the transaction ends: two rounds at once would send a letter twice. Waits as long as
    /// the session allows.
    package static func takeRound(on connection: inout Connection) throws(PostgresError) {
        try connection.query("SELECT FROM report.letter_round FOR UPDATE")
    }

    /// Those that wait, in the order in which each place gets them.
    package static func waiting(on connection: inout Connection) throws(PostgresError) -> [Letter] {
        let rows = try connection.query(
            """
            SELECT id, app, period, place, attempts, may_have_arrived FROM report.letter WHERE state = 'waiting'
            ORDER BY place, day, period, app LIMIT \(Int64(mostInRound))
            """)
        var letters: [Letter] = []
        for row in rows {
            letters.append(
                Letter(
                    id: try row.get(0), app: try row.get(1), period: try row.get(2), place: try row.get(3),
                    attempts: try row.get(4), mayHaveArrived: try row.get(5)))
        }
        return letters
    }

    private static let mostInRound = 10_000

    /// Begins an attempt: from now on, until it is known how it ended, the letter may have arrived.
    package static func begin(_ letter: Letter, on connection: inout Connection) throws(PostgresError) -> Letter
        .Contents?
    {
        let rows = try connection.query(
            """
            UPDATE report.letter SET attempts = attempts + 1, tried_at = now(), may_have_arrived = true,
                last_error = 'the attempt was interrupted'
            WHERE id = \(letter.id) AND state = 'waiting'
            RETURNING subject, summary, as_text, as_mail, as_json
            """)
        return try rows.first.map { row throws(PostgresError) in
            Letter.Contents(
                subject: try row.get(0), summary: try row.get(1), text: try row.get(2), mail: try row.get(3),
                json: try row.get(4))
        }
    }

    /// The place has it. What it said is no longer needed.
    package static func end(_ letter: Letter, on connection: inout Connection) throws(PostgresError) {
        try connection.query(
            """
            UPDATE report.letter SET state = 'sent', ended_at = now(), last_error = NULL, subject = NULL,
                summary = NULL, as_text = NULL, as_mail = NULL, as_json = NULL
            WHERE id = \(letter.id)
            """)
    }

    /// It failed. `mayHaveArrived`: the attempt ended without an answer. It is given up after the last attempt.
    package static func fail(
        _ letter: Letter, because reason: String, mayHaveArrived: Bool, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            UPDATE report.letter SET last_error = \(reason),
                may_have_arrived = \(letter.mayHaveArrived || mayHaveArrived)
            WHERE id = \(letter.id)
            """)
        guard letter.attempts + 1 >= Letter.mostAttempts else { return }
        try giveUp([letter.id], because: "given up after \(Letter.mostAttempts) attempts", on: &connection)
    }

    /// Gives up what is too old to be news, and says how many letters that were.
    package static func giveUpOld(on connection: inout Connection) throws(PostgresError) -> Int {
        let rows = try connection.query(
            """
            SELECT id FROM report.letter
            WHERE state = 'waiting' AND written_at < now() - make_interval(days => \(Int32(Letter.mostDays)))
            """)
        var old: [UUID] = []
        for row in rows { old.append(try row.get(0)) }
        try giveUp(old, because: "given up after \(Letter.mostDays) days", on: &connection)
        return old.count
    }

    private static func giveUp(
        _ letters: [UUID], because reason: String, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            UPDATE report.letter SET state = 'given_up', ended_at = now(),
                last_error = \(reason) || coalesce(': ' || last_error, ', without an attempt'), subject = NULL,
                summary = NULL, as_text = NULL, as_mail = NULL, as_json = NULL
            WHERE id = ANY (\(letters))
            """)
    }

    /// Says why a letter still waits that no attempt was made for.
    package static func note(
        _ letters: [Letter], because reason: String, on connection: inout Connection
    ) throws(PostgresError) {
        try connection.query(
            """
            UPDATE report.letter SET last_error = \(reason) WHERE id = ANY (\(letters.map(\.id))) AND state = 'waiting'
            """
        )
    }
}
