internal import Accounts
internal import Postgres
internal import ServiceRuntime

/// Who asks for a page.
struct Viewer: Sendable {
    /// The name of the key; nil where none is asked for.
    var key: String?
    /// The apps that the key reads; nil for all.
    var apps: [String]?
    /// With a cookie, as people are: then a page has a button to sign out.
    var isSignedIn = false

    /// Everybody on this machine.
    static let anybody = Viewer()
}

/// A request with a key, for the service's log: no query, which may name people's campaigns.
struct KeyUse: Sendable {
    let key: String
    let path: String
    /// Whether it only waits for events: a window that is left open asks without end, and must not hide what is read.
    let isFeed: Bool
    let log: Log

    private static let mostLength = 200

    func note(_ status: Int) {
        let fields: Log.Fields = [
            "key": key, "path": String(printable: String(path.prefix(Self.mostLength))), "status": "\(status)",
        ]
        switch status {
        case _ where isFeed: log.info("look: followed with a key", fields)
        // What was read is always said: no other request must hide it.
        case 200: log.record("look: read with a key", fields)
        default: log.info("look: read nothing with a key", fields)
        }
    }
}

/// Whose eyes a session of the database has. The rule is the database's own (`log.apps_shown`): its views show these
/// apps alone.
struct SessionApps: Sendable {
    private var apps: [String]?
    /// Whether it failed to turn: then it may read as it should not.
    private var isUncertain = false

    /// Lets the session read these apps, and no others; nil for all.
    mutating func turn(to apps: [String]?, on connection: inout Connection) throws(PostgresError) {
        guard isUncertain || apps != self.apps else { return }
        isUncertain = true
        // Whoever answers for a key must not read as another one did: what is prepared was planned for that.
        try connection.query("SELECT set_config('bellwether.apps', coalesce((\(apps))::text, ''), false)")
        try connection.execute(script: "DISCARD PLANS")
        (self.apps, isUncertain) = (apps, false)
    }
}
