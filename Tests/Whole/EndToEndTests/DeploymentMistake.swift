import Testing

/// A mistake in a file that people deploy with, and the words by which it is found.
struct DeploymentMistake: Sendable, CustomTestStringConvertible {
    let subject: DeploymentCheck.Subject
    let file: String
    let right: String
    let wrong: String
    let complaint: String

    private init(
        _ subject: DeploymentCheck.Subject, in file: String, _ right: String, _ wrong: String, _ complaint: String
    ) {
        (self.subject, self.file, self.right, self.wrong, self.complaint) = (subject, file, right, wrong, complaint)
    }

    var testDescription: String { complaint }

    private static let compose = "docker-compose.yml"
    private static let settings = "Examples/compose.env"
    private static let image = "Dockerfile"
    private static let alerts = "Examples/prometheus-rules.yml"
    private static let workflow = ".github/workflows/client.yml"

    static let all: [DeploymentMistake] = [
        DeploymentMistake(
            .compose, in: compose, "image: postgres:15-bookworm", "image: postgres:latest", "is not pinned"),
        DeploymentMistake(.compose, in: compose, #"user: "10001:10001""#, "user: root", "runs as 'root'"),
        DeploymentMistake(.compose, in: compose, "read_only: true", "read_only: false", "read_only: False"),
        DeploymentMistake(
            .compose, in: compose, "mem_limit: 64m", "mem_swappiness: 0", "logins: has no limit of memory"),
        DeploymentMistake(
            .compose, in: compose, "      test: [CMD, pg_isready", "      txt: [CMD, pg_isready", "its health"),
        DeploymentMistake(
            .compose, in: compose, "${BELLWETHER_OWNER_PASSWORD:?set it in .env}", "secret", "file itself"),
        DeploymentMistake(
            .compose, in: compose, "//bellwether_owner@", "//bellwether_owner:x@", "has a password in it"),
        DeploymentMistake(.compose, in: compose, "[serve, --only, ingest]", "[serve, --just, ingest]", "has no --just"),
        DeploymentMistake(.compose, in: compose, "command: [migrate]", "command: [upgrade]", "no command upgrade"),
        DeploymentMistake(.compose, in: compose, "grace_period: 45s", "grace_period: 5s", "finishes what is in flight"),
        DeploymentMistake(.compose, in: compose, "compose/logins.sql:", "compose/login.sql:", "no file ./Examples"),
        DeploymentMistake(
            .compose, in: compose, "condition: service_healthy", "condition: service_started", "waits for"),
        DeploymentMistake(.compose, in: compose, "{internal: true}", "{}", "networks without a way out"),
        DeploymentMistake(.compose, in: settings, "BELLWETHER_PUBLISH=", "BELLWETHER_PORT=", "used and not told of"),
        DeploymentMistake(.compose, in: settings, "=info", "=debug", "default of BELLWETHER_LOG_LEVEL"),
        DeploymentMistake(.image, in: image, "debian:12-slim", "debian:latest", "debian:latest is not pinned"),
        DeploymentMistake(.image, in: image, "USER 10001:10001\n", "", "runs as 'None'"),
        DeploymentMistake(.image, in: image, " libsimdjson14 ", " ", "is built with libsimdjson-dev"),
        DeploymentMistake(.image, in: image, #"["bellwether"]"#, "bellwether", "ENTRYPOINT goes through a shell"),
        DeploymentMistake(.image, in: ".dockerignore", "!Migrations\n", "", "what is copied and what may be"),
        DeploymentMistake(.alerts, in: alerts, "_queue_bytes > ", "_queued_bytes > ", "has no bellwether_queued_bytes"),
        DeploymentMistake(.alerts, in: alerts, "_commits_total[10m]", "_commits[10m]", "is no counter"),
        DeploymentMistake(
            .alerts, in: alerts, #"action: "Replace the files by"#, #"note: "Replace the files by"#, "annotations"),
        DeploymentMistake(
            .alerts, in: alerts, "#a-clock-is-wrong", "#a-clock-is-right", "no heading #a-clock-is-right"),
        DeploymentMistake(.alerts, in: alerts, "`bellwether rejected list`", "`bellwether refused list`", "no command"),
        DeploymentMistake(.workflow, in: workflow, "  contents: read", "  contents: write", "rights"),
        DeploymentMistake(
            .workflow, in: workflow, "checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8", "checkout@v5", "not pinned"),
        DeploymentMistake(.workflow, in: workflow, "runs-on: macos-26", "runs-on: macos-latest", "no certain system"),
        DeploymentMistake(.workflow, in: workflow, "    timeout-minutes: 30\n", "", "no limit of time"),
        DeploymentMistake(.workflow, in: workflow, "matrix.build", "matrix.target", "the matrix has no target"),
        DeploymentMistake(.workflow, in: workflow, "runner.temp", "runners.temp", "nobody knows runners.temp"),
        DeploymentMistake(.workflow, in: workflow, #""$DESTINATION" CODE"#, #""$TARGET" CODE"#, "that nobody sets"),
        DeploymentMistake(
            .workflow, in: workflow, #""$DESTINATION" CODE"#, "${{ matrix.build }} CODE", "code of whoever"),
        DeploymentMistake(.workflow, in: workflow, "          fi\n", "", "what bash says"),
        DeploymentMistake(.workflow, in: workflow, "client-package/split", "client-package/divide", "is no program"),
        DeploymentMistake(
            .workflow, in: workflow, "        env:\n", "        environment:\n", "nobody knows: ['environment']"),
        DeploymentMistake(.workflow, in: workflow, "generic/platform=tvOS", "generic/platform=iOS", "tvOS: built for"),
        DeploymentMistake(.workflow, in: workflow, "Sources/C/CZlib/**", "Sources/Zlib/**", "no file is at"),
        DeploymentMistake(
            .workflow, in: "Package.swift", ".watchOS(.v8), ", "", "Package.swift.txt: has other platforms"),
    ]
}
