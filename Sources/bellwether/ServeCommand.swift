internal import Accounts
internal import Console
internal import EmbeddedPostgres
internal import EventLog
internal import Glibc
internal import HTTPServer
internal import Health
internal import Ingestion
internal import Look
internal import ServiceRuntime
internal import Serving

/// Runs the service until it is told to stop.
struct ServeCommand: Command {
    static let words = ["serve"]
    static let summary = "Run the service: accept events and keep the funnels up to date"
    static let options = [
        Option(
            "listen", "ADDRESS", environment: "BELLWETHER_LISTEN",
            help: "host:port, or the path of a Unix socket (default 127.0.0.1:8080)"),
        Option(
            "only", "PART", choices: Service.Part.allCases.map(\.rawValue),
            help: "Run one part of the service: ingest or project"),
        Option(
            "metrics-listen", "ADDRESS",
            help: "Serve /metrics at this address instead, and health checks too, without TLS"),
        Option("look", "ADDRESS", help: "Also serve the web pages at this address (see bellwether look)"),
        Option(
            "tls-certificate", "FILE",
            help: "Serve HTTPS with this certificate chain (PEM), reloaded when it changes and on SIGHUP"),
        Option("tls-key", "FILE", help: "Private key of the certificate (PEM)"),
        Option(
            "cors-origin", "ORIGIN", isRepeatable: true,
            help: "Web origin that may post from a browser, or '*' for all; may be repeated"),
        Option("connections", "N", help: "Connections at once (default 5000)"),
        Option(
            "connection-memory", "N",
            help:
                "Bytes that connections and bodies may use together (default 268435456, or a quarter of the memory if that is less)"
        ),
        Option("connections-per-address", "N", help: "Connections at once from one address (default: no limit)"),
        Option("writers", "N", help: "Commits at once (default 2)"),
        Option("lanes", "N", help: "Steps of the projections at once (default 2)"),
        Option("queue-bytes", "N", help: "Bytes of events that may wait for their commit (default 33554432)"),
        Option("max-values", "N", help: "Different values that one member may have in one app (default 100000)"),
        Option("trust-clock", help: "Trust this machine's clock although the log's last commits are ahead of it"),
        Option(
            "max-new-values", "N",
            help: "New values of all members that one key may add in an hour (default 10000)"),
        Option("max-new-values-of-install", "N", help: "The same for one install (default 500)"),
        Option("node", "NAME", help: "Name of this process in analytics.batches (default host:pid)"),
        Option(
            "log-level", "LEVEL", environment: "BELLWETHER_LOG_LEVEL",
            choices: Log.Level.allCases.map(\.rawValue), help: "debug, info, warning or error"),
    ]

    private let arguments: Arguments
    private let server: HTTPServerConfiguration
    private let metricsListen: HTTPServerConfiguration.Address?
    private let lookListen: HTTPServerConfiguration.Address?
    private let commits: GroupCommit.Configuration
    private let mostWords: Int32
    private let newWords: Appender.Configuration.NewWords
    private let parts: Set<Service.Part>
    private let lanes: Int
    private let origins: [String]
    private let messages: ServiceLog
    private var log: Log { messages.log }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        parts =
            arguments.has("only")
            ? [try arguments.choice("only", default: Service.Part.ingest)] : Set(Service.Part.allCases)
        lanes = try arguments.number("lanes", in: 1...16, default: 2)
        messages = ServiceLog(least: try arguments.choice("log-level", default: Log.Level.info))
        var server = HTTPServerConfiguration(
            listen: try Self.address(arguments.text("listen") ?? "127.0.0.1:8080", "listen"))
        switch (arguments.text("tls-certificate"), arguments.text("tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?): server.tls = .init(certificate: certificate, privateKey: key)
        default: throw UsageError("give --tls-certificate and --tls-key together")
        }
        server.connectionLimit = try arguments.number("connections", in: 1...100_000, default: 5000)
        server.memoryLimit = try arguments.number(
            "connection-memory", in: (4 << 20)...(1 << 40),
            default: max(32 << 20, min(256 << 20, MachineMemory.limit / 4)))
        if arguments.has("connections-per-address") {
            server.connectionsPerAddress = try arguments.number("connections-per-address", in: 1...100_000, default: 1)
        }
        self.server = server
        metricsListen = try arguments.text("metrics-listen").map { try Self.address($0, "metrics-listen") }
        lookListen = try arguments.text("look").map { try Self.address($0, "look") }
        var commits = GroupCommit.Configuration()
        commits.writers = try arguments.number("writers", in: 1...16, default: commits.writers)
        commits.mostQueuedBytes = try arguments.number(
            "queue-bytes", in: 1...(1 << 40), default: commits.mostQueuedBytes)
        self.commits = commits
        origins = try arguments.texts("cors-origin").map(Self.origin)
        mostWords = Int32(try arguments.number("max-values", in: 1...100_000_000, default: 100_000))
        var newWords = Appender.Configuration.NewWords()
        newWords.ofKey = Int32(
            try arguments.number("max-new-values", in: 1...100_000_000, default: Int(newWords.ofKey)))
        newWords.ofInstall = Int32(
            try arguments.number("max-new-values-of-install", in: 1...100_000_000, default: Int(newWords.ofInstall)))
        self.newWords = newWords
    }

    func run() throws -> ExitCode {
        Signals.prepare(withReload: true)
        messages.start()
        defer { messages.stop(within: 5) }
        // Check this before creating a database.
        if let tls = server.tls { try HTTPServer.check(tls) }
        let server = Self.fitting(server, log: log)
        let access = try DatabaseAccess(arguments, log: log, fit: .seenLater, interruptible: false)
        defer { access.release() }
        var configuration = Service.Configuration(
            url: access.url, server: server, node: arguments.text("node") ?? Self.nodeName())
        configuration.metricsListen = metricsListen
        configuration.parts = parts
        configuration.commits = commits
        configuration.lanes = lanes
        configuration.mostWords = mostWords
        configuration.newWords = newWords
        configuration.crossOrigin = CrossOrigin(origins)
        configuration.trustsClock = arguments.has("trust-clock")
        let look = try pages(access, of: configuration.node)
        if let look {
            configuration.pages = Service.Configuration.Pages(address: "\(look.address)") { look.health }
        }
        let service = try Service(configuration, log: log, revive: { try access.cluster?.ensureRunning() }) {
            [messages] in messages.leftOut
        }
        let logs = ServerLogs(access, log: log)
        logs.start()
        defer { logs.stop() }
        service.start()
        look?.start()
        let signal = Signals.waitForStop {
            service.readCertificateAnew()
            look?.readCertificateAnew()
        }
        log.info("stopping: finishing the requests in flight", ["signal": signal])
        Signals.letTheNextOneKill()
        look?.stop(deadline: .after(seconds: 5))
        service.stop()
        log.info("stopped")
        return .done
    }

    /// The pages beside the service, if they are wanted: with its certificate where other machines reach them.
    private func pages(_ access: DatabaseAccess, of node: String) throws -> PagesProcess? {
        guard let lookListen else { return nil }
        try Look.check(keysURL: access.url, at: lookListen, waitsForDatabase: true, log)
        var words: [String] = []
        if let tls = server.tls, !lookListen.isLoopback {
            words += ["--tls-certificate", tls.certificate, "--tls-key", tls.privateKey]
        }
        if let level = arguments.text("log-level") { words += ["--log-level", level] }
        let role: LogSession.Role = parts.contains(.ingest) ? .ingest : .projector
        let (url, log) = (access.url, messages.log)
        return try PagesProcess(at: lookListen, words: words, variables: access.variables, log: log) { why in
            PagesEndings.note(why, of: node, url: url, role: role, log: log)
        }
    }

    /// Every connection is an open file. Closing connections and the database need some files, too.
    private static func fitting(_ server: HTTPServerConfiguration, log: Log) -> HTTPServerConfiguration {
        let others = 1200
        let limit = OpenFiles.raiseLimit(to: server.connectionLimit + others)
        guard limit < server.connectionLimit + others else { return server }
        var fitting = server
        fitting.connectionLimit = max(64, limit - others)
        log.warning(
            "serving fewer connections than --connections: this process may not open more files; raise its limit (LimitNOFILE)",
            ["connections": "\(fitting.connectionLimit)", "open files": "\(limit)"])
        return fitting
    }

    /// `host:port`, `[v6]:port`, `:port`, `/path` or `unix:/path`.
    static func address(_ text: String, _ option: String) throws -> HTTPServerConfiguration.Address {
        if text.hasPrefix("/") { return .unix(path: text) }
        if text.hasPrefix("unix:") { return .unix(path: String(text.dropFirst(5))) }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw UsageError("--\(option) takes host:port or the path of a Unix socket, not '\(text)'")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return .tcp(host: host.isEmpty ? "::" : host, port: port)
    }

    /// The origin of a page in a browser's spelling; another spelling would never match.
    private static func origin(_ text: String) throws -> String {
        guard
            text == "*"
                || text.wholeMatch(of: /[a-z][a-z0-9+.-]*:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/) != nil
        else {
            throw UsageError(
                "--cors-origin takes '*' or a lower-case origin without a path, such as https://app.example or "
                    + "http://localhost:3000, not '\(text)'")
        }
        return text
    }

    private static func nodeName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, 255) == 0 else { return "unknown:\(getpid())" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + ":\(getpid())"
    }
}
