internal import Accounts
internal import Console
internal import HTTPServer
internal import Health
internal import Look
internal import ServiceRuntime

/// Serves the web pages until it is told to stop.
struct LookCommand: Command {
    static let words = ["look"]
    static let summary = "Serve web pages that show what the numbers say"
    static let options = [
        Option(
            "listen", "ADDRESS", environment: "BELLWETHER_LOOK_LISTEN",
            help: "host:port, or the path of a Unix socket (default 127.0.0.1:8081)"),
        Option(
            "host", "NAME", isRepeatable: true,
            help: "Name by which a proxy asks for pages, beside those of this machine; may be repeated"),
        Option("tls-certificate", "FILE", help: "Serve HTTPS with this certificate chain (PEM)"),
        Option("tls-key", "FILE", help: "Private key of the certificate (PEM)"),
        Option(
            "log-level", "LEVEL", environment: "BELLWETHER_LOG_LEVEL",
            choices: Log.Level.allCases.map(\.rawValue), help: "debug, info, warning or error"),
    ]

    private let arguments: Arguments
    private let server: HTTPServerConfiguration
    private let messages: ServiceLog
    private var log: Log { messages.log }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        messages = ServiceLog(least: try arguments.choice("log-level", default: Log.Level.info))
        var server = HTTPServerConfiguration(
            listen: try ServeCommand.address(arguments.text("listen") ?? "127.0.0.1:8081", "listen"))
        switch (arguments.text("tls-certificate"), arguments.text("tls-key")) {
        case (nil, nil): break
        case (let certificate?, let key?): server.tls = .init(certificate: certificate, privateKey: key)
        default: throw UsageError("give --tls-certificate and --tls-key together")
        }
        self.server = server
    }

    func run() throws -> ExitCode {
        Signals.prepare(withReload: true)
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
            arguments, log: log, fit: service == nil ? .exact : .seenLater, interruptible: false)
        defer { access.release() }
        var configuration = Look.Configuration(
            analystURL: access.pagesURL, keysURL: access.url, server: server)
        configuration.hosts = arguments.texts("host")
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
