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
struct ServeCommand: DatabaseCommand {
    static let words = ["serve"]
    static let summary = "Run the service: accept events and keep the funnels up to date"
    static let options: [Option<Self>] = [
        Option(
            "listen", "ADDRESS", environment: "BELLWETHER_LISTEN", \.server.listen, .address,
            help: "host:port, or the path of a Unix socket (default)"),
        Option("only", "PART", \.only, .word, help: "Run one part of the service: ingest or project"),
        Option(
            "metrics-listen", "ADDRESS", \.metricsListen, .address,
            help: "Serve /metrics at this address instead, and health checks too, without TLS"),
        Option(
            "look", "ADDRESS", \.lookListen, .address,
            help: "Also serve the web pages at this address (see bellwether look)"),
        Option(
            "tls-certificate", "FILE", \.certificate, .text,
            help: "Serve HTTPS with this certificate chain (PEM), reloaded when it changes and on SIGHUP"),
        Option("tls-key", "FILE", \.key, .text, help: "Private key of the certificate (PEM)"),
        Option(
            "cors-origin", "ORIGIN", each: \.origins, .origin,
            help: "Web origin that may post from a browser, or '*' for all; may be repeated"),
        Option(
            "connections", "N", \.server.connectionLimit, .number(in: 1...100_000),
            help: "Connections at once (default)"),
        Option(
            "connection-memory", "N", \.server.memoryLimit, .number(in: (4 << 20)...(1 << 40)),
            help:
                "Bytes that connections and bodies may use together (default 268435456, "
                + "or a quarter of the memory if that is less)"
        ),
        Option(
            "connections-per-address", "N", \.server.connectionsPerAddress, .number(in: 1...100_000),
            help: "Connections at once from one address (default: no limit)"),
        Option("writers", "N", \.commits.writers, .number(in: 1...16), help: "Commits at once (default)"),
        Option("lanes", "N", \.lanes, .lanes, help: "Steps of the projections at once (default)"),
        Option(
            "queue-bytes", "N", \.commits.mostQueuedBytes, .number(in: 1...(1 << 40)),
            help: "Bytes of events that may wait for their commit (default)"),
        Option(
            "max-values", "N", \.mostWords, .number(in: 1...100_000_000),
            help: "Different values that one member may have in one app (default)"),
        Option(
            "trust-clock", \.trustsClock,
            help: "Trust this machine's clock although the log's last commits are ahead of it"),
        Option(
            "max-new-values", "N", \.newWords.ofKey, .number(in: 1...100_000_000),
            help: "New values of all members that one key may add in an hour (default)"),
        Option(
            "max-new-values-of-install", "N", \.newWords.ofInstall, .number(in: 1...100_000_000),
            help: "The same for one install (default)"),
        Option("node", "NAME", \.node, .text, help: "Name of this process in analytics.batches (default host:pid)"),
        .logLevel(\.level),
    ]

    var database = DatabaseChoice()
    private var server = Self.serverByDefault
    private var certificate: String?
    private var key: String?
    private var metricsListen: HTTPServerConfiguration.Address?
    private var lookListen: HTTPServerConfiguration.Address?
    private var origins: [String] = []
    private var commits = GroupCommit.Configuration()
    private var mostWords: Int32 = 100_000
    private var newWords = Appender.Configuration.NewWords()
    private var only: Service.Part?
    private var lanes = 2
    private var trustsClock = false
    private var node: String?
    private var level = Log.Level.info

    private static var serverByDefault: HTTPServerConfiguration {
        var server = HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 8080))
        server.memoryLimit = max(32 << 20, min(256 << 20, MachineMemory.limit / 4))
        return server
    }

    mutating func check() throws(UsageError) { server.tls = try .files(certificate: certificate, key: key) }

    func run() throws -> ExitCode {
        Signals.prepare(withReload: true)
        let messages = ServiceLog(least: level)
        let log = messages.log
        messages.start()
        defer { messages.stop(within: 5) }
        // Check this before creating a database.
        if let tls = server.tls { try HTTPServer.check(tls) }
        let server = Self.fitting(server, log: log)
        let access = try DatabaseAccess(database, log: log, fit: .seenLater, interruptible: false)
        defer { access.release() }
        var configuration = Service.Configuration(url: access.url, server: server, node: node ?? Self.nodeName())
        configuration.metricsListen = metricsListen
        let parts = only.map { [$0] } ?? Set(Service.Part.allCases)
        configuration.parts = parts
        configuration.commits = commits
        configuration.lanes = lanes
        configuration.mostWords = mostWords
        configuration.newWords = newWords
        configuration.crossOrigin = CrossOrigin(origins)
        configuration.trustsClock = trustsClock
        let look = try pages(access, of: configuration.node, for: parts, log: log)
        if let look {
            configuration.pages = Service.Configuration.Pages(address: "\(look.address)") { look.health }
        }
        let service = try Service(configuration, log: log, revive: { try access.server?.ensureRunning() }) {
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
    private func pages(
        _ access: DatabaseAccess, of node: String, for parts: Set<Service.Part>, log: Log
    ) throws -> PagesProcess? {
        guard let lookListen else { return nil }
        try Look.check(keysURL: access.url, at: lookListen, waitsForDatabase: true, log)
        var words = ["--log-level", level.rawValue]
        if let tls = server.tls, !lookListen.isLoopback {
            words += ["--tls-certificate", tls.certificate, "--tls-key", tls.privateKey]
        }
        let role: LogSession.Role = parts.contains(.ingest) ? .ingest : .projector
        let url = access.url
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
            "serving fewer connections than --connections: this process may not open more files; "
                + "raise its limit (LimitNOFILE)",
            ["connections": "\(fitting.connectionLimit)", "open files": "\(limit)"])
        return fitting
    }

    private static func nodeName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, 255) == 0 else { return "unknown:\(getpid())" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + ":\(getpid())"
    }
}

extension OptionValue where Value == String {
    /// The origin of a page in a browser's spelling; another spelling would never match.
    fileprivate static var origin: OptionValue {
        OptionValue(
            "'*' or a lower-case origin without a path, such as https://app.example or http://localhost:3000"
        ) { text in
            let origin = /[a-z][a-z0-9+.-]*:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?/
            return text == "*" || text.wholeMatch(of: origin) != nil ? text : nil
        }
    }
}
