package import Accounts
internal import CatalogueSupport
package import Envelopes
package import EventLog
package import Postgres
internal import ServiceRuntime
package import Telemetry
package import Values

/// An app with a write key on a database, and how to hand its events to the log. What a module's tests do with one
/// (filling its funnels, registering its categories) are extensions there.
package struct TestApp: Sendable {
    package private(set) var database: TestDatabase
    package let app: App
    package let key: APIKey
    package let secret: String

    package var slug: String { app.slug }
    package var id: Int32 { app.id }

    /// The same in a copy of its database.
    package func copied(to database: TestDatabase) -> TestApp {
        var copy = self
        copy.database = database
        return copy
    }

    /// A submission of this app, as one request would bring it.
    package func submission(
        _ events: [Event], rejected: [RejectedEvent] = [], drops: [ClientDrop] = [],
        receivedAt: Timestamp = Event.sampleTime, sentAt: Timestamp? = nil, source: String? = nil,
        raw: (Int) -> String = { "{\"place\":\($0)}" }
    ) -> Submission {
        Submission(
            app: app.id, key: key.id, receivedAt: receivedAt, sentAt: sentAt, events: events, rejected: rejected,
            drops: drops, source: source, raw: raw)
    }
}

extension Submission {
    /// An envelope that carried these events.
    package init(
        app: Int32, key: Int32, receivedAt: Timestamp, sentAt: Timestamp? = nil, events: [Event],
        rejected: [RejectedEvent] = [], drops: [ClientDrop] = [], source: String? = nil,
        raw: (Int) -> String = { "{\"place\":\($0)}" }
    ) {
        self.init(
            app: app, key: key,
            envelope: DecodedEnvelope(
                of: events, rejected: rejected, drops: drops, receivedAt: receivedAt, sentAt: sentAt, source: source,
                raw: raw))
    }
}

extension Appender {
    /// As `append`, with nil for a submission whose key is closed.
    package func verdictsWithOpenKeys(_ submissions: [Submission]) throws(PostgresError) -> [[Verdict]?] {
        zip(submissions, try append(submissions, checking: .keys)).map { submission, settlement in
            if case .settled(let verdicts) = settlement { verdicts.each(of: submission) } else { nil }
        }
    }
}

extension TestDatabase {
    /// Makes an app with a write key.
    package func makeApp(_ slug: String = "chat", timeZone: String = "UTC") throws -> TestApp {
        var connection = try connect()
        // Not by `Apps.create`, which has PostgreSQL read all its time zones to check this one.
        try connection.query("INSERT INTO log.app (slug, time_zone) VALUES (\(slug), \(timeZone))")
        let app = try Apps.named(slug, on: &connection)
        let (key, secret) = try APIKeys.add(to: slug, kind: .write, name: nil, on: &connection)
        return TestApp(database: self, app: app, key: key, secret: secret)
    }

    /// A writer of this database.
    package func appender(
        node: String = "test", mostWords: Int32 = 100_000, newWords: Appender.Configuration.NewWords = .init(),
        allowance: RejectedAllowance = RejectedAllowance()
    ) throws -> Appender {
        Appender(
            Appender.Configuration(url: try url(), node: node, mostWords: mostWords, newWords: newWords),
            allowance: allowance,
            log: .silent)
    }
}
