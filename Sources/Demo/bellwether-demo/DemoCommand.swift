internal import Accounts
internal import Console
internal import Glibc
internal import Postgres
internal import Posting
internal import Projections
internal import Reports
internal import ServiceRuntime
internal import Simulation
internal import Values

/// Shows what Bellwether does: two apps over a fortnight and a day, from phones to the summary.
struct DemoCommand: DemoDeclaration {
    static let options = DemoOptions.options.within(\Self.given)

    private var given = DemoOptions()

    func run() throws -> ExitCode {
        let begun = Deadline.now
        let directory = try given.data ?? DemoDirectory.make()
        StandardStream.error.write("Creating an embedded database in \(String(printable: directory))\n")
        // If the user ends it early, hide the service's messages about the lost database.
        let isEnding = Lock(false)
        let log = Log(least: .warning, style: .lines) { line in
            if !isEnding.withLock({ $0 }) { StandardStream.error.write(line) }
        }
        let access = try DatabaseAccess(embeddedIn: directory, log: log) {
            isEnding.withLock { $0 = true }
            StandardStream.error.write("\nStopped early. The data so far is in \(String(printable: directory))\n")
        }
        defer { access.release() }
        var owner = try LogSession.open(url: access.url, role: nil, purpose: "demo", log: log, statementSeconds: 0)
        try refuseApps(in: directory, on: &owner)
        let now = WallClock.now
        let audience = Audience(dormant: Double(given.dormant) / 100, extensionSends: !given.appSends)
        var apps = [
            try DemoApp(.news, installs: given.installs, seed: given.seed, audience, now: now, on: &owner),
            try DemoApp(.shop, installs: given.installs, seed: given.seed &+ 1, audience, now: now, on: &owner),
        ]
        let bar = ProgressBar()
        defer { bar.clear() }
        let run = DemoRun(access: access, log: log, bar: bar, now: now)
        let sent = try run.live(&apps, on: &owner)
        let proof = try run.prove()
        let made = try run.report(apps, into: directory + "/reports")
        bar.clear()
        DemoTelling(directory: directory, seconds: Double(Deadline.now.nanoseconds - begun.nanoseconds) / 1e9)
            .tell(sent, proof, made)
        return sent.isWhole && proof.isProved ? .done : .failed
    }

    /// A demonstration among a user's own apps could not be told apart from them.
    private func refuseApps(in directory: String, on connection: inout Connection) throws {
        let apps = try Apps.list(on: &connection).map(\.slug)
        guard apps.isEmpty else {
            throw Failure(
                "there are already apps in \(String(printable: directory)) (\(apps.joined(separator: ", "))). "
                    + "Leave out --data for a new directory, or name another one")
        }
    }
}

/// The directory of a demonstration.
enum DemoDirectory {
    /// Creates a new, unique directory. It stays until somebody removes it.
    static func make() throws -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        let template = (base.isEmpty ? "/tmp" : base) + "/bellwether-demo-XXXXXX"
        var path = template.utf8CString.map { $0 }
        guard unsafe mkdtemp(&path) != nil else {
            throw Failure("cannot create a directory like \(template): \(unsafe String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
