internal import Accounts
internal import Console
internal import EventLog
internal import Health
internal import Postgres
internal import ServiceRuntime

/// Checks everything that the service depends on.
struct DoctorCommand: DatabaseCommand {
    static let words = ["doctor"]
    static let summary = "Check versions, rights, settings, clock, disk, archive and funnels; exit 1 if any fails"
    static let options: [Option<Self>] = [.format(\.format)]

    var database = DatabaseChoice()
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let log = Log.standardError(least: .warning)
        let access = try DatabaseAccess(database, log: log, fit: .any)
        defer { access.release() }
        var connection = try LogSession.open(
            url: access.url, role: nil, purpose: "doctor", log: log, statementSeconds: 60)
        var findings: [(name: String, finding: Finding)] = []
        var isAtVersion = true
        connection.deadline = .after(seconds: 90)
        let isHub = try LogTails.isHub(&connection)
        for examination in Examination.all
        where (isAtVersion || !examination.readsOurs) && !(isHub && examination.isOfCells) {
            connection.deadline = .after(seconds: 90)
            guard let finding = try examination.examine(access, &connection) else { continue }
            findings.append((examination.name, finding))
            if examination.name == Examination.migrations.name { isAtVersion = finding.status == .ok }
        }
        switch format {
        case .text: StandardStream.output.write(Self.text(findings))
        case .json: StandardStream.output.write(Self.json(findings))
        }
        return findings.contains { $0.finding.status == .fail } ? .failed : .done
    }

    private static func text(_ findings: [(name: String, finding: Finding)]) -> String {
        let width = findings.map(\.name.count).max() ?? 0
        return findings.map { name, finding in
            let status = finding.status.rawValue
            let line =
                status + String(repeating: " ", count: 6 - status.count) + name
                + String(repeating: " ", count: width + 2 - name.count) + finding.what
            let remedy = finding.remedy.map { ". To do: \($0)" } ?? ""
            return String(printable: line + remedy + (finding.runbook.map { ". See \($0.place)" } ?? "")) + "\n"
        }.joined()
    }

    private static func json(_ findings: [(name: String, finding: Finding)]) -> String {
        let items = findings.map { name, finding -> JSONObject in
            [
                "check": name, "status": finding.status.rawValue.lowercased(), "what": finding.what,
                "to_do": finding.remedy, "runbook": finding.runbook?.place,
            ]
        }
        return items.json + "\n"
    }
}
