internal import Accounts
internal import Clusters
internal import Console
internal import EventLog
internal import Postgres
internal import Sends
internal import ServiceRuntime

/// Imports FCM's delivery-data export.
struct FCMExportImportCommand: DatabaseCommand {
    static let words = ["import", "fcm-export"]
    static let operands: [Operand<Self>] = [Operand("FILE", \.path)]
    static let summary =
        "Import FCM's delivery-data export as newline-delimited JSON ('-' is standard input)"
    static let options: [Option<Self>] = [
        .app(\.slug),
        Option(
            "app-name", "NAME", each: \.names, .text,
            help: "Import only rows of this bundle id or package; may be repeated (default: all)"),
        .format(\.format),
    ]

    /// Rows per transaction.
    private static let batch = 10_000

    var database = DatabaseChoice()
    private var path = ""
    private var slug = ""
    private var names: [String] = []
    private var format = OutputFormat.text

    /// The number of lines by result.
    private struct Count {
        var (read, stored, others, erased, tooOld, unreadable) = (0, 0, 0, 0, 0, 0)
        var known: Int { read - stored - others - erased - tooOld - unreadable }
    }

    func run() throws -> ExitCode {
        let file = try InputFile(path)
        let (count, isEverywhere) = try DatabaseAccess.withAccess(database) { access, connection in
            let log = Log.standardError(least: .warning)
            guard let cluster = try Cluster(of: &connection, url: access.url, log: log) else {
                let app = try Apps.named(slug, on: &connection).id
                return (try read(file, of: app, on: &connection) { _ in }, true)
            }
            return try read(file, into: cluster)
        }
        switch format {
        case .text:
            var text = "stored \(count.stored)\nknown already \(count.known)\nunreadable \(count.unreadable)\n"
            if !names.isEmpty { text += "of other apps \(count.others)\n" }
            if count.erased > 0 { text += "of erased instances \(count.erased)\n" }
            if count.tooOld > 0 { text += "from days that retain has removed \(count.tooOld)\n" }
            StandardStream.output.write(text)
        case .json:
            let object: JSONObject = [
                "stored": count.stored, "known": count.known, "unreadable": count.unreadable,
                "other_apps": count.others,
                "erased": count.erased, "too_old": count.tooOld,
            ]
            StandardStream.output.write(object.json + "\n")
        }
        return count.unreadable == 0 && isEverywhere ? .done : .failed
    }

    /// Reads a file once, and stores its rows in every cell. A cell that fails gets no more of them.
    private func read(_ file: InputFile, into cluster: Cluster) throws -> (count: Count, isEverywhere: Bool) {
        var failures: [(cell: ClusterMap.Cell, error: any Error)] = []
        let first = try cluster.first
        let count = try cluster.working(on: first) { connection in
            let app = try Apps.named(slug, on: &connection).id
            return try read(file, of: app, on: &connection) { rows in
                for cell in cluster.others where !failures.contains(where: { $0.cell == cell }) {
                    do throws(PostgresError) {
                        _ = try cluster.on(cell) { connection throws(PostgresError) in
                            try FCMExportStore.append(rows, app: app, on: &connection)
                        }
                    } catch { failures.append((cell, error)) }
                }
            }
        }
        for (cell, error) in failures {
            StandardStream.error.write(
                String(printable: "The cell '\(cell.name)' does not have all of it: \(error). Import the file again.")
                    + "\n")
        }
        return (count, failures.isEmpty)
    }

    /// `also` gets the rows of each transaction after it.
    private func read(
        _ file: InputFile, of app: Int32, on connection: inout Connection, also: ([FCMExportRow]) -> Void
    ) throws -> Count {
        let progress = ImportProgress(of: file)
        Interruption.beginning(with: { progress.tellInterruption() })
        defer { progress.finish() }
        let lines = LineReader(
            descriptor: file.descriptor, longest: FCMExportReader.longestLine, telling: progress.note)
        let reader = FCMExportReader()
        let names = Set(names)
        var complaints = Complaints()
        var count = Count()
        var rows: [FCMExportRow] = []
        var number = 0
        func store(on connection: inout Connection) throws {
            let outcome = try FCMExportStore.append(rows, app: app, on: &connection)
            count.stored += outcome.stored
            count.erased += outcome.erased
            count.tooOld += outcome.tooOld
            also(rows)
            rows.removeAll(keepingCapacity: true)
        }
        while let line = try next(of: lines, file) {
            number += 1
            if count.read == 0 { try check(first: line, of: file) }
            switch line {
            case .bytes(let bytes) where !bytes.contains { $0 > UInt8(ascii: " ") }:
                continue
            case .bytes(let bytes):
                count.read += 1
                do {
                    let row = try reader.read(bytes)
                    if names.isEmpty || names.contains(row.appName ?? "") {
                        rows.append(row)
                    } else {
                        count.others += 1
                    }
                } catch {
                    count.unreadable += 1
                    complaints.add("line \(number): \(error)")
                }
            case .tooLong:
                count.read += 1
                count.unreadable += 1
                complaints.add("line \(number): it is longer than \(FCMExportReader.longestLine) bytes")
            }
            if rows.count == Self.batch { try store(on: &connection) }
        }
        if !rows.isEmpty { try store(on: &connection) }
        complaints.finish()
        return count
    }

    /// A single document, instead of one row per line, would cause one error per line.
    private func check(first line: LineReader.Line, of file: InputFile) throws {
        guard case .bytes(let bytes) = line else { return }
        let words = bytes.filter { $0 > UInt8(ascii: " ") }
        guard words.first == UInt8(ascii: "[") || words == [UInt8(ascii: "{")] else { return }
        throw Failure(
            "\(file.name) is one JSON document, but must have one row a line. Nothing was imported. Convert it, "
                + "for example with jq --compact-output 'if type == \"array\" then .[] else . end'")
    }

    private func next(of lines: LineReader, _ file: InputFile) throws -> LineReader.Line? {
        do { return try lines.next() } catch { throw Failure("cannot read \(file.name): \(error.reason)") }
    }
}
