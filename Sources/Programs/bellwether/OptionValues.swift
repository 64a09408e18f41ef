internal import Console
internal import EventLog
internal import HTTPServer
internal import ServiceRuntime
internal import Values

extension Option {
    /// The app of a command on one app.
    static func app(_ path: Property<Target, String>) -> Option {
        Option("app", "SLUG", path, .text, required: "name the app", help: "The app")
    }

    /// How much a service says.
    static func logLevel(_ path: Property<Target, Log.Level>) -> Option {
        Option(
            "log-level", "LEVEL", environment: "BELLWETHER_LOG_LEVEL", path, .word,
            help: "debug, info, warning or error")
    }
}

extension OptionValue where Value == Int {
    /// Work done side by side.
    static var lanes: OptionValue { .number(in: 1...16) }
}

extension OptionValue where Value == UUID {
    static var install: OptionValue { OptionValue("an id of 8-4-4-4-12 hexadecimal digits") { UUID($0) } }
}

extension OptionValue where Value == Timestamp {
    static var time: OptionValue {
        OptionValue("a time with its offset, such as 2026-11-20T09:30:00Z") { Timestamp(rfc3339: $0) }
    }
}

extension OptionValue where Value == LogPosition {
    static var position: OptionValue {
        OptionValue("a position, a whole number from 0 or on a hub one a cell such as cell-1:12,cell-2:40") {
            LogPosition($0)
        }
    }
}

extension OptionValue where Value == HTTPServerConfiguration.Address {
    /// `host:port`, `[v6]:port`, `:port`, `/path` or `unix:/path`.
    static var address: OptionValue {
        OptionValue("host:port or the path of a Unix socket") { text in
            if text.hasPrefix("/") { return .unix(path: text) }
            if text.hasPrefix("unix:") { return .unix(path: String(text.dropFirst(5))) }
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            return .tcp(host: host.isEmpty ? "::" : host, port: port)
        }
    }
}

extension HTTPServerConfiguration.TLS {
    /// Nil if neither is given.
    static func files(certificate: String?, key: String?) throws(UsageError) -> Self? {
        switch (certificate, key) {
        case (nil, nil): nil
        case (let certificate?, let key?): Self(certificate: certificate, privateKey: key)
        default: throw UsageError("give --tls-certificate and --tls-key together")
        }
    }
}
