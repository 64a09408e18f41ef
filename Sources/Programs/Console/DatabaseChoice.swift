internal import Glibc

/// Which database a command works on: the one of a URL, or else the embedded one of a data directory.
package struct DatabaseChoice: Readable, Sendable {
    package private(set) var url: String?
    private var data: String?

    package init() {}

    static let options: [Option<Self>] = [
        Option(
            "database", "URL", environment: "BELLWETHER_DATABASE_URL", \.url, .secret,
            help: "Any libpq URL of the PostgreSQL to use; '-' reads it from standard input"),
        dataOption,
    ]
    package static let dataOption: Option<Self> = Option(
        "data", "DIR", environment: "BELLWETHER_DATA", \.data, .text, help: "Data directory of the embedded PostgreSQL")

    /// The data directory of the embedded database.
    package var directory: String {
        if let data { return data }
        if getuid() == 0 { return "/var/lib/bellwether" }
        if let base = environment("XDG_DATA_HOME") { return base + "/bellwether" }
        return (environment("HOME") ?? ".") + "/.local/share/bellwether"
    }

    private func environment(_ name: String) -> String? {
        guard let text = unsafe getenv(name) else { return nil }
        let value = unsafe String(cString: text)
        return value.isEmpty ? nil : value
    }
}
