internal import Accounts
internal import Console
internal import Reports
internal import ServiceRuntime
internal import Simulation
internal import Values

/// Counts false alarms: two apps in which nothing ever goes wrong, their report each morning, and what these tell as
/// news.
struct AlarmsCommand: Command {
    static let words = ["alarms"]
    static let summary = "Count how often the reports of apps in which nothing goes wrong have news"
    static let options: [Option<Self>] = [
        Option("days", "N", \.days, .number(in: 15...1000), help: "How long the apps live (default)"),
        Option("installs", "N", \.installs, .number(in: 10...100_000), help: "Number of phones of each app (default)"),
        Option(
            "seed", "N", \.seed, .number(in: 0...UInt64(Int.max)), help: "Another number simulates others (default)"),
    ]

    private var days: Int32 = 60
    private var installs = 600
    private var seed: UInt64 = 1

    /// The days without a usual one to compare with.
    private static let learning = 7

    /// What the reports of an app told.
    fileprivate struct Told {
        var nights = 0
        /// How many reports had news of a kind.
        var news: [News.Kind: Int] = [:]
        var withNews = 0
        var words: [String] = []
    }

    func run() throws -> ExitCode {
        let log = Log(least: .warning, style: .lines) { StandardStream.error.write($0) }
        let access = try DatabaseAccess(embeddedIn: try DemoDirectory.make(), log: log)
        defer { access.release() }
        var owner = try LogSession.open(url: access.url, role: nil, purpose: "demo", log: log, statementSeconds: 0)
        let now = WallClock.now
        var apps: [DemoApp] = []
        for (profile, seed) in [(AppProfile.news, seed), (AppProfile.shop, seed &+ 1)] {
            apps.append(
                try DemoApp(
                    profile, installs: installs, seed: seed, Audience(), now: now, days: days, isCalm: true, on: &owner)
            )
        }
        let bar = ProgressBar()
        defer { bar.clear() }
        var told: [String: Told] = [:]
        var seen: [String: Int] = [:]
        _ = try DemoRun(access: access, log: log, bar: bar, now: now).live(&apps, on: &owner) { app, made in
            seen[app, default: 0] += 1
            if seen[app, default: 0] > Self.learning { told[app, default: Told()].add(made) }
        }
        bar.clear()
        for (app, told) in told.sorted(by: { $0.key < $1.key }) { StandardStream.output.write(told.text(of: app)) }
        return .done
    }
}

extension AlarmsCommand.Told {
    fileprivate mutating func add(_ made: Reporter.Made) {
        let message = made.message
        nights += 1
        withNews += message.news.isEmpty ? 0 : 1
        for kind in Set(message.news.map(\.kind)) { news[kind, default: 0] += 1 }
        words += message.news.map { "  \(message.period.name) \($0.kind.rawValue): \($0.words)\n" }
    }

    fileprivate func text(of app: String) -> String {
        let kinds = News.Kind.allCases.map { "\(news[$0, default: 0]) with \($0.rawValue)" }.joined(separator: ", ")
        return "\(app): \(nights) nights, \(withNews) with news (\(kinds))\n" + words.joined()
    }
}
