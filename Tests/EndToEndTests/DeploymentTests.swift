import TestSupport
import Testing

/// What people deploy with is written by hand; here it is held against the program.
@Suite("What people deploy with") struct DeploymentTests {
    @Test("the compose file is pinned, confined, watched and explained, and calls commands that exist")
    func compose() throws { try holds(.compose) }

    @Test("the image runs without root, on pinned bases, with the libraries that the program is built with")
    func image() throws { try holds(.image) }

    @Test("the alerts are about metrics that the service has")
    func alerts() throws { try holds(.alerts) }

    private func holds(_ subject: DeploymentCheck.Subject) throws {
        let check = try DeploymentCheck.run(subject, metrics: try metrics())
        #expect(check.status == 0, "\(check.output)")
    }

    private func metrics() throws -> [String: String] {
        try Metrics(SharedService.get().service.client().get("/metrics").body).kinds
    }

    /// A mistake in one of the files, and the words by which it is found.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let subject: DeploymentCheck.Subject
        let file: String
        let right: String
        let wrong: String
        let complaint: String

        init(
            _ subject: DeploymentCheck.Subject, in file: String, _ right: String, _ wrong: String, _ complaint: String
        ) {
            (self.subject, self.file, self.right, self.wrong, self.complaint) = (subject, file, right, wrong, complaint)
        }

        var testDescription: String { complaint }
    }

    private static let compose = "docker-compose.yml"
    private static let settings = "Examples/compose.env"
    private static let image = "Dockerfile"
    private static let alerts = "Examples/prometheus-rules.yml"

    @Test(
        "a mistake in a file to deploy with is found",
        arguments: [
            Mistake(.compose, in: compose, "image: postgres:15-bookworm", "image: postgres:latest", "is not pinned"),
            Mistake(.compose, in: compose, #"user: "10001:10001""#, "user: root", "runs as 'root'"),
            Mistake(.compose, in: compose, "read_only: true", "read_only: false", "read_only: False"),
            Mistake(.compose, in: compose, "mem_limit: 64m", "mem_swappiness: 0", "logins: has no limit of memory"),
            Mistake(.compose, in: compose, "      test: [CMD, pg_isready", "      txt: [CMD, pg_isready", "its health"),
            Mistake(.compose, in: compose, "${BELLWETHER_OWNER_PASSWORD:?set it in .env}", "secret", "file itself"),
            Mistake(.compose, in: compose, "//bellwether_owner@", "//bellwether_owner:x@", "has a password in it"),
            Mistake(.compose, in: compose, "[serve, --only, ingest]", "[serve, --just, ingest]", "has no --just"),
            Mistake(.compose, in: compose, "command: [migrate]", "command: [upgrade]", "no command upgrade"),
            Mistake(.compose, in: compose, "grace_period: 45s", "grace_period: 5s", "finishes what is in flight"),
            Mistake(.compose, in: compose, "compose/logins.sql:", "compose/login.sql:", "no file ./Examples"),
            Mistake(.compose, in: compose, "condition: service_healthy", "condition: service_started", "waits for"),
            Mistake(.compose, in: compose, "{internal: true}", "{}", "networks without a way out"),
            Mistake(.compose, in: settings, "BELLWETHER_PUBLISH=", "BELLWETHER_PORT=", "used and not told of"),
            Mistake(.compose, in: settings, "=info", "=debug", "default of BELLWETHER_LOG_LEVEL"),
            Mistake(.image, in: image, "debian:12-slim", "debian:latest", "debian:latest is not pinned"),
            Mistake(.image, in: image, "USER 10001:10001\n", "", "runs as 'None'"),
            Mistake(.image, in: image, " libmicrohttpd12 ", " ", "is built with libmicrohttpd-dev"),
            Mistake(.image, in: image, #"["bellwether"]"#, "bellwether", "ENTRYPOINT goes through a shell"),
            Mistake(.image, in: ".dockerignore", "!Migrations\n", "", "what is copied and what may be"),
            Mistake(.alerts, in: alerts, "_queue_bytes > ", "_queued_bytes > ", "has no bellwether_queued_bytes"),
            Mistake(.alerts, in: alerts, "_commits_total[10m]", "_commits[10m]", "is no counter"),
            Mistake(.alerts, in: alerts, "`bellwether rejected list`", "`bellwether refused list`", "no command"),
        ])
    func mistakesAreFound(_ mistake: Mistake) throws {
        var text = try DeploymentCheck.text(of: mistake.file)
        let place = try #require(text.firstRange(of: mistake.right), "\(mistake.file) has no \(mistake.right)")
        text.replaceSubrange(place, with: mistake.wrong)
        let check = try DeploymentCheck.run(mistake.subject, files: [mistake.file: text], metrics: try metrics())
        #expect(check.status == 1 && check.output.contains(mistake.complaint), "\(check.output)")
    }
}
