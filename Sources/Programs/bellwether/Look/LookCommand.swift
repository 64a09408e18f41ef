internal import Accounts
internal import Console
internal import HTTPServer
internal import Health
internal import Look
internal import ServiceRuntime

/// Serves the web pages until it is told to stop.
struct LookCommand: DatabaseCommand {
    static let words = ["look"]
    static let summary = "Serve web pages that show what the numbers say"
    static let options: [Option<Self>] = [
        Option(
            "listen", "ADDRESS", environment: "BELLWETHER_LOOK_LISTEN", \.server.listen, .address,
            help: "host:port, or the path of a Unix socket (default)"),
        Option(
            "host", "NAME", each: \.hosts, .text,
            help: "Name by which a proxy asks for pages, beside those of this machine; may be repeated"),
        Option("tls-certificate", "FILE", \.certificate, .text, help: "Serve HTTPS with this certificate chain (PEM)"),
        Option("tls-key", "FILE", \.key, .text, help: "Private key of the certificate (PEM)"),
        .logLevel(\.level),
    ]

    var database = DatabaseChoice()
    private var server = HTTPServerConfiguration(listen: .tcp(host: "127.0.0.1", port: 8081))
    private var hosts: [String] = []
    private var certificate: String?
    private var key: String?
    private var level = Log.Level.info

    mutating func check() throws(UsageError) { server.tls = try .files(certificate: certificate, key: key) }

    func run() throws -> ExitCode {
        Signals.prepare(withReload: true)
        let messages = ServiceLog(least: level)
        let log = messages.log
        messages.start()
        defer { messages.stop(within: 5) }
        if let tls = server.tls { try HTTPServer.check(tls) }
        let service = PagesProcess.inherited
        var server = server
        if let service {
            server.inherited = service.sockets
            Lifeline.follow(service.lifeline, patience: 20) { [log] in
                log.warning("the service that started these pages is gone: stopping")
            }
        }
        // Beside a service they also wait for the database as it does.
        let access = try DatabaseAccess(
            database, log: log, fit: service == nil ? .exact : .seenLater, interruptible: false)
        defer { access.release() }
        var configuration = Look.Configuration(analystURL: access.pagesURL, keysURL: access.url, server: server)
        configuration.hosts = hosts
        let look = try Look(configuration, waitsForDatabase: service != nil, log: log)
        look.start()
        let signal = Signals.waitForStop { _ = try? look.readCertificateAnew() }
        log.info("stopping: finishing the requests in flight", ["signal": signal])
        Signals.letTheNextOneKill()
        look.stop(deadline: .after(seconds: 15))
        log.info("stopped")
        return .done
    }
}
