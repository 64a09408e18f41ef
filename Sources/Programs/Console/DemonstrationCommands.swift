/// The name and options of `demo`. `bellwether` lists and explains the command; `bellwether-demo` reads its options and
/// runs it.
package protocol DemoDeclaration: Command {}

extension DemoDeclaration {
    package static var words: [String] { ["demo"] }
    package static var summary: String { "Show everything: two simulated apps, real HTTP, proved funnels, the report" }
    package static var options: [Option<Self>] { DemoOptions.options.map { $0.unread() } }
}

/// What the options of `demo` say.
package struct DemoOptions: Readable {
    package private(set) var data: String?
    package private(set) var installs = 1200
    package private(set) var seed: UInt64 = 1
    package private(set) var dormant = 0
    package private(set) var appSends = false

    package init() {}

    package static let options: [Option<Self>] = [
        Option("data", "DIR", \.data, .text, help: "Directory for its database and reports (default: a new one)"),
        Option("installs", "N", \.installs, .number(in: 10...100_000), help: "Number of phones of each app (default)"),
        Option(
            "seed", "N", \.seed, .number(in: 0...UInt64(Int.max)),
            help: "Another number simulates other people (default)"),
        Option(
            "dormant", "PERCENT", \.dormant, .number(in: 0...99),
            help: "Share of the installs that nobody ever opens again (default)"),
        Option(
            "app-sends", \.appSends,
            help: "Receipts wait until the app is opened: no service extension sends them itself"),
    ]
}

/// The name and options of `simulate`. `bellwether` lists and explains the command; `bellwether-demo` reads its options
/// and runs it.
package protocol SimulateDeclaration: Command {}

extension SimulateDeclaration {
    package static var words: [String] { ["simulate"] }
    package static var summary: String { "Post realistic traffic to a server, as phones would" }
    package static var options: [Option<Self>] { SimulateOptions.options.map { $0.unread() } }
}

/// What the options of `simulate` say.
package struct SimulateOptions: Readable {
    package private(set) var url = ""
    package private(set) var writeKey = ""
    package private(set) var serverKey: String?
    package private(set) var rate = 50
    package private(set) var seconds: Int?
    package private(set) var seed = UInt64.random(in: 0...UInt64(Int.max))
    package private(set) var connections = 4

    package init() {}

    package static let options: [Option<Self>] = [
        Option(
            "url", "URL", \.url, .text, required: "name the server, such as http://127.0.0.1:8080",
            help: "The server, such as http://127.0.0.1:8080; or unix:/path/of/a/socket"),
        Option(
            "write-key", "KEY", environment: "BELLWETHER_WRITE_KEY", \.writeKey, .secret,
            required: "give a write key, or '-' for standard input",
            help: "Write key of the app; '-' reads it from standard input"),
        Option(
            "server-key", "KEY", environment: "BELLWETHER_SERVER_KEY", \.serverKey, .text,
            help: "Server key of the app: also register its categories and report its sends"),
        Option("rate", "N", \.rate, .number(in: 1...100_000), help: "Events a second (default)"),
        Option(
            "seconds", "S", \.seconds, .number(in: 1...31_536_000),
            help: "Stop after so many seconds (default: on Ctrl-C)"),
        Option(
            "seed", "N", \.seed, .number(in: 0...UInt64(Int.max)),
            help: "The same number simulates the same people (default: random)"),
        Option("connections", "N", \.connections, .number(in: 1...256), help: "Requests at once (default)"),
    ]
}
