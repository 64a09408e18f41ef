/// The name and options of `demo`. `bellwether` lists and explains the command; `bellwether-demo` runs it.
package protocol DemoDeclaration: Command {}

extension DemoDeclaration {
    package static var words: [String] { ["demo"] }
    package static var summary: String { "Show everything: two simulated apps, real HTTP, proved funnels, the report" }
    package static var options: [Option] {
        [
            Option("data", "DIR", help: "Directory for its database and reports (default: a new one)"),
            Option("installs", "N", help: "Number of phones of each app (default 1200)"),
            Option("seed", "N", help: "Another number simulates other people (default 1)"),
            Option("dormant", "PERCENT", help: "Share of the installs that nobody ever opens again (default 0)"),
            Option("app-sends", help: "Receipts wait until the app is opened: no service extension sends them itself"),
        ]
    }
    package static var needsDatabase: Bool { false }
}

/// The name and options of `simulate`. `bellwether` lists and explains the command; `bellwether-demo` runs it.
package protocol SimulateDeclaration: Command {}

extension SimulateDeclaration {
    package static var words: [String] { ["simulate"] }
    package static var summary: String { "Post realistic traffic to a server, as phones would" }
    package static var options: [Option] {
        [
            Option(
                "url", "URL", help: "The server, such as http://127.0.0.1:8080; or unix:/path/of/a/socket; required"),
            Option(
                "write-key", "KEY", environment: "BELLWETHER_WRITE_KEY",
                help: "Write key of the app; '-' reads it from standard input; required"),
            Option(
                "server-key", "KEY", environment: "BELLWETHER_SERVER_KEY",
                help: "Server key of the app: also register its categories and report its sends"),
            Option("rate", "N", help: "Events a second (default 50)"),
            Option("seconds", "S", help: "Stop after so many seconds (default: on Ctrl-C)"),
            Option("seed", "N", help: "The same number simulates the same people (default: random)"),
            Option("connections", "N", help: "Requests at once (default 4)"),
        ]
    }
    package static var needsDatabase: Bool { false }
}
